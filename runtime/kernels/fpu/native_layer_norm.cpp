// aten::native_layer_norm.out with weight and bias.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_norm.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
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

Error prepare(Args& args, Needs& needs) { return rt_checks_native_layer_norm(args, needs); }

struct Rows {
  uint32_t length;
  float epsilon;
  const float* scale;
  const float* shift;
};

// Up to four rows; missing ones are the first one again.
void normalize(const Rows& rows, uint32_t count, const float* in, float* out, float* mean,
               float* inverse) {
  const float* x[kNormRows];
  for (uint32_t r = 0; r < kNormRows; ++r) x[r] = in + (r < count ? r : 0) * rows.length;
  const auto size = static_cast<float>(rows.length);
  float means[kNormRows];
  float squares[kNormRows];
  rt_float_sums(x, rows.length, means);
  for (float& sum : means) sum = sum / size;
  rt_float_squares(x, rows.length, means, squares);
  for (uint32_t r = 0; r < count; ++r) {
    // As the reference kernel has it.
    const Normal normal = {means[r], 1.0F / __builtin_sqrtf(squares[r] / size + rows.epsilon),
                           rows.scale, rows.shift};
    rt_float_normalize(x[r], out + r * rows.length, rows.length, &normal);
    mean[r] = normal.mean;
    inverse[r] = normal.inverse;
  }
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor* weight = args.optional_tensor(kWeight);
  const Tensor* bias = args.optional_tensor(kBias);
  if (weight == nullptr || bias == nullptr) return rt_fallback_native_layer_norm(args, temporary);
  const uint32_t count = args.tensor(kMean).numel();
  const Rows rows = {weight->numel(), static_cast<float>(args.number(kEpsilon)),
                     weight->as<float>(), bias->as<float>()};
  const float* in = args.tensor(kInput).as<float>();
  float* out = args.tensor(kOut).as<float>();
  float* mean = args.tensor(kMean).as<float>();
  float* inverse = args.tensor(kInverse).as<float>();
  for (uint32_t row = 0; row < count; row += kNormRows) {
    const uint32_t left = count - row;
    normalize(rows, left < kNormRows ? left : kNormRows, in + row * rows.length,
              out + row * rows.length, mean + row, inverse + row);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::native_layer_norm.out", prepare, run);

}  // namespace rt::kernels::fpu
