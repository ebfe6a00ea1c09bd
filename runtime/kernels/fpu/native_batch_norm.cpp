// aten::_native_batch_norm_legit_no_training.out where channels lie innermost.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kMean,
  kVariance,
  kMomentum,
  kEpsilon,
  kOut,
};

bool suits(const Args& args) {
  const Tensor& input = args.tensor(kInput);
  return same_layout(input, args.tensor(kOut)) && input.strides().of[1] == 1;
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_native_batch_norm(args, needs));
  if (suits(args)) needs.temporary_bytes = 2 * args.tensor(kMean).numel() * sizeof(float);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_native_batch_norm(args, temporary);
  const Tensor* weight = args.optional_tensor(kWeight);
  const Tensor* bias = args.optional_tensor(kBias);
  const float* mean = args.tensor(kMean).as<float>();
  const float* variance = args.tensor(kVariance).as<float>();
  const auto epsilon = static_cast<float>(args.number(kEpsilon));
  const uint32_t channels = args.tensor(kMean).numel();
  float* const scale = reinterpret_cast<float*>(temporary.data());
  float* const shift = scale + channels;
  for (uint32_t c = 0; c < channels; ++c) {
    // As the reference kernel has it.
    const float inverse = 1.0F / __builtin_sqrtf(variance[c] + epsilon);
    scale[c] = weight == nullptr ? inverse : weight->as<float>()[c] * inverse;
    shift[c] = (bias == nullptr ? 0.0F : bias->as<float>()[c]) - mean[c] * scale[c];
  }
  const Scaling scaling = {scale, shift, channels, args.tensor(kOut).numel() / channels};
  rt_float_scale(args.tensor(kInput).as<float>(), args.tensor(kOut).as<float>(), &scaling);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_native_batch_norm_legit_no_training.out", prepare, run);

}  // namespace rt::kernels::fpu
