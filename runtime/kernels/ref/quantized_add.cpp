// cortex_m::quantized_add: both operands are brought to a common scale, added, requantized.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kSelf,
  kSelfZeroPoint,
  kSelfMultiplier,
  kSelfShift,
  kOther,
  kOtherZeroPoint,
  kOtherMultiplier,
  kOtherShift,
  kOutZeroPoint,
  kOutMultiplier,
  kOutShift,
  kActivationMin,
  kActivationMax,
  kOut,
};

// Bits that CMSIS-NN gives the operands before scaling them: SHIFT_INT8 in passes_utils.py.
constexpr int32_t kLeftShift = 20;

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tiiitiiiiiiiio="));
  RT_TRY(expect_type(args, {kSelf, kOther, kOut}, ScalarType::kChar));
  for (const uint32_t i : {kSelf, kOther}) {
    if (!broadcasts_to(args.tensor(i), args.tensor(kOut))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  for (const uint32_t i : {kSelfZeroPoint, kOtherZeroPoint, kOutZeroPoint}) {
    RT_TRY(expect_zero_point(args, i));
  }
  RT_TRY(expect_requantization(args, kSelfMultiplier, kSelfShift));
  RT_TRY(expect_requantization(args, kOtherMultiplier, kOtherShift));
  RT_TRY(expect_requantization(args, kOutMultiplier, kOutShift));
  return expect_activation(args, kActivationMin, kActivationMax);
}

struct Operand {
  int32_t zero_point, multiplier, shift;

  int32_t scale(int8_t value) const {
    return requantize((value - zero_point) * (1 << kLeftShift), multiplier, shift);
  }
};

Operand operand(const Args& args, uint32_t first) {
  return {args.integer(first), args.integer(first + 1), args.integer(first + 2)};
}

Error run(const Args& args, std::span<std::byte>) {
  const Operand self = operand(args, kSelfZeroPoint);
  const Operand other = operand(args, kOtherZeroPoint);
  const Operand out = operand(args, kOutZeroPoint);
  const int32_t low = args.integer(kActivationMin);
  const int32_t high = args.integer(kActivationMax);
  elementwise<int8_t>(
      args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), [&](int8_t a, int8_t b) {
        const int32_t sum = wrapping_add(self.scale(a), other.scale(b));
        const int32_t scaled = requantize(sum, out.multiplier, out.shift);
        return static_cast<int8_t>(clamp(wrapping_add(scaled, out.zero_point), low, high));
      });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_add, "cortex_m::quantized_add.out", prepare, run);

}  // namespace rt::kernels
