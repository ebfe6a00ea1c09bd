// cortex_m::quantized_mul: the product of both operands without their zero points, requantized.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
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

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("titiiiio="));
  RT_TRY(expect_type(args, {kSelf, kOther, kOut}, ScalarType::kChar));
  for (const uint32_t i : {kSelf, kOther}) {
    if (!broadcasts_to(args.tensor(i), args.tensor(kOut))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  // Of the operands they need not be int8's: the exporter folds the + 3 of a hard swish into one.
  for (const uint32_t i : {kSelfZeroPoint, kOtherZeroPoint}) {
    RT_TRY(expect_range(args, i, -32768, 32767));
  }
  RT_TRY(expect_zero_point(args, kOutZeroPoint));
  return expect_requantization(args, kOutMultiplier, kOutShift);
}

Error run(const Args& args, std::span<std::byte>) {
  const int32_t self_zero_point = args.integer(kSelfZeroPoint);
  const int32_t other_zero_point = args.integer(kOtherZeroPoint);
  const int32_t out_zero_point = args.integer(kOutZeroPoint);
  const int32_t multiplier = args.integer(kOutMultiplier);
  const int32_t shift = args.integer(kOutShift);
  elementwise<int8_t>(
      args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), [&](int8_t a, int8_t b) {
        const int32_t product = (a - self_zero_point) * (b - other_zero_point);
        const int32_t scaled = requantize(product, multiplier, shift);
        return static_cast<int8_t>(clamp(wrapping_add(scaled, out_zero_point), -128, 127));
      });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_mul, "cortex_m::quantized_mul.out", prepare, run);

}  // namespace rt::kernels
