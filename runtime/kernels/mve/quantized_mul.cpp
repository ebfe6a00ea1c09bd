// cortex_m::quantized_mul with Helium: four products at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/dot.hpp"
#include "runtime/kernels/mve/elementwise.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/requantize.hpp"
#include "runtime/kernels/runs.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t {
  kSelf,
  kSelfZeroPoint,
  kOther,
  kOtherZeroPoint,
  kOutZeroPoint,
  kOutMultiplier,
  kOutShift,
  kOut,
};

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_mul(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  Multiplication of = {args.integer(kSelfZeroPoint), args.integer(kOtherZeroPoint),
                       args.integer(kOutMultiplier), args.integer(kOutShift),
                       args.integer(kOutZeroPoint),  0};
  if (!scale_fits(of.shift)) return rt_fallback_quantized_mul(args, temporary);
  elementwise_runs(
      args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
      [&](const int8_t* a, const int8_t* b, int8_t* out, uint32_t count) {
        of.count = count;
        rt_mve_multiply(a, b, out, &of);
      },
      [&](int8_t a, int8_t b) {
        const int32_t product = (a - of.self_zero_point) * (b - of.other_zero_point);
        const int32_t scaled = requantize(product, of.multiplier, of.shift);
        return static_cast<int8_t>(clamp(wrapping_add(scaled, of.offset), -128, 127));
      });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_mul.out", prepare, run);

}  // namespace rt::kernels::mve
