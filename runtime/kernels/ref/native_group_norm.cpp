// aten::native_group_norm, float32: channels in groups, each brought to mean 0
// and deviation 1.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/normalize.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kBatch,
  kChannels,
  kPixels,
  kGroups,
  kEpsilon,
  kOut,
  kMean,
  kInverse,
};

Error prepare(Args &args, Needs &) {
  // The last argument lists the outputs.
  RT_TRY(args.match("tnniiiisooo_"));
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut, kMean, kInverse}, ScalarType::kFloat));
  RT_TRY(expect_contiguous(args, {kMean, kInverse}));
  const Tensor &input = args.tensor(kInput);
  if (input.rank() < 2 || input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  if (args.integer(kBatch) != input.size(0)) return args.refuse(kBatch, Error::kArgumentValue);
  const int32_t channels = input.size(1);
  if (args.integer(kChannels) != channels) return args.refuse(kChannels, Error::kArgumentValue);
  RT_TRY(expect_range(args, kGroups, 1, channels));
  const int32_t groups = args.integer(kGroups);
  if (channels % groups != 0) return args.refuse(kGroups, Error::kArgumentValue);
  for (const uint32_t i : {kWeight, kBias}) {
    const Tensor *tensor = args.optional_tensor(i);
    if (tensor != nullptr && tensor->numel() != static_cast<uint32_t>(channels)) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  if (!same_shape(input, args.tensor(kOut))) return args.refuse(kOut, Error::kArgumentShape);
  const auto rows = static_cast<uint32_t>(input.size(0) * groups);
  if (args.tensor(kMean).numel() != rows) return args.refuse(kMean, Error::kArgumentShape);
  if (args.tensor(kInverse).numel() != rows) return args.refuse(kInverse, Error::kArgumentShape);
  return Error::kOk;
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const int32_t groups = args.integer(kGroups);
  const int32_t channels = input.size(1) / groups;
  const auto epsilon = static_cast<float>(args.number(kEpsilon));
  const Channels norm(input, args.tensor(kOut), args.optional_tensor(kWeight),
                      args.optional_tensor(kBias));
  float *mean = args.tensor(kMean).as<float>();
  float *inverse = args.tensor(kInverse).as<float>();
  for (int32_t n = 0; n < input.size(0); ++n) {
    for (int32_t g = 0; g < groups; ++g) {
      const Moments moments = norm.moments(n, n + 1, g * channels, (g + 1) * channels, epsilon);
      norm.apply(moments, n, n + 1, g * channels, (g + 1) * channels);
      *mean++ = moments.mean;
      *inverse++ = moments.inverse;
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::native_group_norm.out", prepare, run);

}  // namespace rt::kernels
