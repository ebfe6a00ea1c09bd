// aten::_native_batch_norm_legit.no_stats_out, float32: each channel by its own
// mean and deviation.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/normalize.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kTraining,
  kMomentum,
  kEpsilon,
  kOut,
  kMean,
  kInverse,
};

Error prepare(Args &args, Needs &) {
  // The last argument lists the outputs.
  RT_TRY(args.match("tnnbssooo_"));
  if (!args.boolean(kTraining)) return args.refuse(kTraining, Error::kArgumentValue);
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut, kMean, kInverse}, ScalarType::kFloat));
  const Tensor &input = args.tensor(kInput);
  if (input.rank() < 2 || input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  const auto channels = static_cast<uint32_t>(input.size(1));
  for (const uint32_t i : {kWeight, kBias, kMean, kInverse}) {
    const Tensor *tensor = args.optional_tensor(i);
    if (tensor != nullptr && tensor->numel() != channels) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const auto epsilon = static_cast<float>(args.number(kEpsilon));
  const Channels norm(input, args.tensor(kOut), args.optional_tensor(kWeight),
                      args.optional_tensor(kBias));
  for (int32_t c = 0; c < input.size(1); ++c) {
    const Moments moments = norm.moments(0, input.size(0), c, c + 1, epsilon);
    norm.apply(moments, 0, input.size(0), c, c + 1);
    args.tensor(kMean).as<float>()[c] = moments.mean;
    args.tensor(kInverse).as<float>()[c] = moments.inverse;
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_native_batch_norm_legit.no_stats_out", prepare, run);

}  // namespace rt::kernels
