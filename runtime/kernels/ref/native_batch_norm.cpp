// aten::_native_batch_norm_legit_no_training, float32: each channel (dimension 1) scaled and
// shifted.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_unary.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
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
  kSavedMean,
  kSavedInverse,
};

Error prepare(Args& args, Needs&) {
  // The saved statistics are empty when nothing is trained; the last argument lists all outputs.
  RT_TRY(args.match("tnnttssooo_"));
  RT_TRY(expect_type(args, {kWeight, kBias, kMean, kVariance}, ScalarType::kFloat));
  RT_TRY(check_float_unary(args, kInput, kOut));
  const Tensor& input = args.tensor(kInput);
  if (input.rank() < 2) return args.refuse(kInput, Error::kArgumentShape);
  const auto channels = static_cast<uint32_t>(input.size(1));
  for (const uint32_t i : {kWeight, kBias, kMean, kVariance}) {
    const Tensor* tensor = args.optional_tensor(i);
    if (tensor != nullptr && tensor->numel() != channels) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  for (const uint32_t i : {kSavedMean, kSavedInverse}) {
    if (args.tensor(i).numel() != 0) return args.refuse(i, Error::kArgumentShape);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const Tensor* weight = args.optional_tensor(kWeight);
  const Tensor* bias = args.optional_tensor(kBias);
  const float* mean = args.tensor(kMean).as<float>();
  const float* variance = args.tensor(kVariance).as<float>();
  const auto epsilon = static_cast<float>(args.number(kEpsilon));
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    if (dim != 1) walk.add(out.size(dim), {in_strides.of[dim], out_strides.of[dim]});
  }
  for (int32_t c = 0; c < input.size(1); ++c) {
    // In torch's order: batch_norm_cpu_collect_linear_and_constant_terms.
    const float inverse = 1.0F / __builtin_sqrtf(variance[c] + epsilon);
    const float scale = weight == nullptr ? inverse : weight->as<float>()[c] * inverse;
    const float shift = (bias == nullptr ? 0.0F : bias->as<float>()[c]) - mean[c] * scale;
    const float* from = input.as<float>() + c * in_strides.of[1];
    float* to = out.as<float>() + c * out_strides.of[1];
    walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
      const float* x = from + offset[0];
      float* y = to + offset[1];
      for (int32_t i = 0; i < count; ++i, x += stride[0], y += stride[1]) *y = *x * scale + shift;
    });
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(native_batch_norm, "aten::_native_batch_norm_legit_no_training.out", prepare,
                    run);

}  // namespace rt::kernels
