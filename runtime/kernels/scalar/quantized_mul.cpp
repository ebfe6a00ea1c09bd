// cortex_m::quantized_mul without the DSP extension.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/runs.hpp"
#include "runtime/kernels/scalar/requantize.hpp"

namespace rt::kernels::scalar {
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
  if (args.integer(kOutShift) >= 0) return rt_fallback_quantized_mul(args, temporary);
  const Requantization requantize(args.integer(kOutMultiplier), args.integer(kOutShift),
                                  args.integer(kOutZeroPoint), -128, 127);
  const int32_t self_zero_point = args.integer(kSelfZeroPoint);
  const int32_t other_zero_point = args.integer(kOtherZeroPoint);
  const auto multiply = [=](int8_t a, int8_t b) {
    return requantize((a - self_zero_point) * (b - other_zero_point));
  };
  elementwise_runs(
      args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
      [=](const int8_t* a, const int8_t* b, int8_t* out, uint32_t count) {
        for (const int8_t* const end = a + count; a != end;) *out++ = multiply(*a++, *b++);
      },
      multiply);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_mul.out", prepare, run);

}  // namespace rt::kernels::scalar
