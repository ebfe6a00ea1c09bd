// cortex_m::quantized_mul with the DSP extension: operands are widened four at a time.

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/runs.hpp"

namespace rt::kernels::dsp {
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

// Operands without their zero points fit 16 bits, and twice their product 32.
constexpr int32_t kLargestZeroPoint = 16384 - 128;

bool zero_point_fits(int32_t value) {
  return value >= -kLargestZeroPoint && value <= kLargestZeroPoint;
}

bool suits(const Args& args) {
  return scale_fits(args.integer(kOutShift)) && zero_point_fits(args.integer(kSelfZeroPoint)) &&
         zero_point_fits(args.integer(kOtherZeroPoint));
}

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_mul(args, needs); }

int32_t multiply_low(int32_t a, int32_t b) {
  int32_t product = 0;
  asm("smulbb %0, %1, %2" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
int32_t multiply_high(int32_t a, int32_t b) {
  int32_t product = 0;
  asm("smultt %0, %1, %2" : "=r"(product) : "r"(a), "r"(b));
  return product;
}

struct Multiplication {
  int32_t self_zero_point, other_zero_point;
  int32_t multiplier, inverted_shift, rounding;

  uint32_t scale(int32_t product) const {
    return static_cast<uint32_t>(
        requantize_doubled(2 * product, multiplier, inverted_shift, rounding));
  }
  int8_t operator()(int8_t a, int8_t b) const {
    return static_cast<int8_t>(scale((a - self_zero_point) * (b - other_zero_point)));
  }

  void operator()(const int8_t* a, const int8_t* b, int8_t* out, uint32_t count) const {
    const uint32_t a_offset = both(-self_zero_point);
    const uint32_t b_offset = both(-other_zero_point);
    for (; count >= 4; count -= 4, a += 4, b += 4, out += 4) {
      const uint32_t a_bytes = load_word(a);
      const uint32_t b_bytes = load_word(b);
      const int32_t a_even = widen_even(a_offset, a_bytes);
      const int32_t a_odd = widen_odd(a_offset, a_bytes);
      const int32_t b_even = widen_even(b_offset, b_bytes);
      const int32_t b_odd = widen_odd(b_offset, b_bytes);
      const uint32_t low =
          insert_byte(scale(multiply_low(a_even, b_even)), scale(multiply_low(a_odd, b_odd)));
      const uint32_t high =
          insert_byte(scale(multiply_high(a_even, b_even)), scale(multiply_high(a_odd, b_odd)));
      store_word(out, pack_low(low, high));
    }
    for (; count > 0; --count) *out++ = (*this)(*a++, *b++);
  }
};

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_quantized_mul(args, temporary);
  const Multiplication multiply = {args.integer(kSelfZeroPoint), args.integer(kOtherZeroPoint),
                                   args.integer(kOutMultiplier), ~args.integer(kOutShift),
                                   rounding_of(args.integer(kOutZeroPoint))};
  elementwise_runs(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), multiply, multiply);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_mul.out", prepare, run);

}  // namespace rt::kernels::dsp
