// aten::native_layer_norm, float32, over the last dimensions; also gives mean
// and 1 / deviation.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/normalize.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kInput,
  kNormalizedShape,
  kWeight,
  kBias,
  kEpsilon,
  kOut,
  kMean,
  kInverse,
};

// @return elements of a row, 0 if the shape is not that of the input's last
// dimensions.
uint32_t row_length(const Args &args) {
  const Tensor &input = args.tensor(kInput);
  const IntList shape = args.list(kNormalizedShape);
  if (shape.count() == 0 || shape.count() > input.rank()) return 0;
  uint32_t length = 1;
  for (uint32_t i = 0; i < shape.count(); ++i) {
    const int32_t size = input.size(input.rank() - shape.count() + i);
    if (shape[i] != size) return 0;
    length *= static_cast<uint32_t>(size);
  }
  return length;
}

Error prepare(Args &args, Needs &) {
  // The last argument lists the outputs.
  RT_TRY(args.match("tlnnsooo_"));
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut, kMean, kInverse}, ScalarType::kFloat));
  RT_TRY(expect_contiguous(args, {kInput, kOut, kMean, kInverse}));
  const Tensor &input = args.tensor(kInput);
  const uint32_t length = row_length(args);
  if (length == 0) return args.refuse(kNormalizedShape, Error::kArgumentValue);
  for (const uint32_t i : {kWeight, kBias}) {
    if (args.is_none(i)) continue;
    if (args.tensor(i).numel() != length) return args.refuse(i, Error::kArgumentShape);
    RT_TRY(expect_contiguous(args, {i}));
  }
  if (!same_shape(input, args.tensor(kOut))) return args.refuse(kOut, Error::kArgumentShape);
  for (const uint32_t i : {kMean, kInverse}) {
    if (args.tensor(i).numel() != input.numel() / length) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const Tensor *weight = args.optional_tensor(kWeight);
  const Tensor *bias = args.optional_tensor(kBias);
  const auto epsilon = static_cast<float>(args.number(kEpsilon));
  const uint32_t length = row_length(args);
  const float *in = input.as<float>();
  float *out = args.tensor(kOut).as<float>();
  float *mean = args.tensor(kMean).as<float>();
  float *inverse = args.tensor(kInverse).as<float>();
  for (uint32_t row = 0; row < input.numel() / length; ++row, in += length, out += length) {
    const Moments moments = moments_of(
        [&](auto visit) {
          for (uint32_t i = 0; i < length; ++i) visit(in[i]);
        },
        length, epsilon);
    for (uint32_t i = 0; i < length; ++i) {
      const float scale = weight == nullptr ? 1.0F : weight->as<float>()[i];
      const float shift = bias == nullptr ? 0.0F : bias->as<float>()[i];
      out[i] = (in[i] - moments.mean) * moments.inverse * scale + shift;
    }
    mean[row] = moments.mean;
    inverse[row] = moments.inverse;
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(native_layer_norm, "aten::native_layer_norm.out", prepare, run);

}  // namespace rt::kernels
