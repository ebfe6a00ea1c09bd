// aten::var_mean over some dimensions, float32: the variance, divided by count - correction, and
// the mean.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDims, kCorrection, kKeep, kVariance, kMean };

float mean_of(const Elements& elements, uint32_t count) {
  float sum = 0.0F;
  elements.each<float>([&](float x) { sum += x; });
  return sum / static_cast<float>(count);
}

void mean(const Elements& elements, uint32_t count, std::byte* out, const void*) {
  *reinterpret_cast<float*>(out) = mean_of(elements, count);
}

void variance(const Elements& elements, uint32_t count, std::byte* out, const void* correction) {
  const float middle = mean_of(elements, count);
  float squares = 0.0F;
  elements.each<float>([&](float x) { squares += (x - middle) * (x - middle); });
  const float divisor = static_cast<float>(count) - *static_cast<const float*>(correction);
  *reinterpret_cast<float*>(out) = squares / (divisor > 0.0F ? divisor : 0.0F);
}

Error prepare(Args& args, Needs&) {
  // The last argument lists the outputs.
  RT_TRY(args.match("tmuboo_"));
  RT_TRY(expect_type(args, {kInput, kVariance, kMean}, ScalarType::kFloat));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, kInput, kDims, args.boolean(kKeep), reduction));
  RT_TRY(check_reduced_shape(args, kInput, reduction, kVariance));
  return check_reduced_shape(args, kInput, reduction, kMean);
}

Error run(const Args& args, std::span<std::byte>) {
  const float correction =
      args.is_none(kCorrection) ? 1.0F : static_cast<float>(args.number(kCorrection));
  const Tensor& input = args.tensor(kInput);
  const Reduction reduction = get_reduction(args, kInput, kDims, args.boolean(kKeep));
  reduce(input, reduction, args.tensor(kVariance), false, variance, &correction);
  reduce(input, reduction, args.tensor(kMean), false, mean, nullptr);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::var_mean.correction_out", prepare, run);

}  // namespace rt::kernels
