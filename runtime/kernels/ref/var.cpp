// aten::var over some dimensions, float32: around the mean, divided by count -
// correction.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

void variance(const Elements &elements, uint32_t count, std::byte *out, const void *correction) {
  float sum = 0.0F;
  elements.each<float>([&](float x) { sum += x; });
  const float mean = sum / static_cast<float>(count);
  float squares = 0.0F;
  elements.each<float>([&](float x) { squares += (x - mean) * (x - mean); });
  const float divisor = static_cast<float>(count) - *static_cast<const float *>(correction);
  *reinterpret_cast<float *>(out) = squares / (divisor > 0.0F ? divisor : 0.0F);
}

Error check(Args &args, uint32_t keep, uint32_t out) {
  RT_TRY(expect_type(args, {0, out}, ScalarType::kFloat));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(keep), reduction));
  return check_reduced_shape(args, 0, reduction, out);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tmubo="));
  return check(args, 3, 4);
}

Error run(const Args &args, std::span<std::byte>) {
  const float correction = args.is_none(2) ? 1.0F : static_cast<float>(args.number(2));
  reduce(args.tensor(0), get_reduction(args, 0, 1, args.boolean(3)), args.tensor(4), false,
         variance, &correction);
  return Error::kOk;
}

Error prepare_unbiased(Args &args, Needs &) {
  RT_TRY(args.match("tmbbo="));
  return check(args, 3, 4);
}

Error run_unbiased(const Args &args, std::span<std::byte>) {
  const float correction = args.boolean(2) ? 1.0F : 0.0F;
  reduce(args.tensor(0), get_reduction(args, 0, 1, args.boolean(3)), args.tensor(4), false,
         variance, &correction);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::var.correction_out", prepare, run);
RT_KERNEL("aten::var.out", prepare_unbiased, run_unbiased);

}  // namespace rt::kernels
