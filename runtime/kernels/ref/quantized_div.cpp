// cortex_m::quantized_div: the quotient of both operands without their zero points, in float.
//
// A divisor of zero gives the output's zero point. int8 and int16.

#include <cmath>
#include <limits>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kSelf,
  kSelfZeroPoint,
  kOther,
  kOtherZeroPoint,
  kOutZeroPoint,
  kOutScale,
  kOut,
};

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("titiiso="));
  const ScalarType type = args.tensor(kSelf).type();
  if (type != ScalarType::kChar && type != ScalarType::kShort) {
    return args.refuse(kSelf, Error::kArgumentScalarType);
  }
  RT_TRY(expect_type(args, {kOther, kOut}, type));
  for (const uint32_t i : {kSelf, kOther}) {
    if (!broadcasts_to(args.tensor(i), args.tensor(kOut))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  for (const uint32_t i : {kSelfZeroPoint, kOtherZeroPoint, kOutZeroPoint}) {
    RT_TRY(expect_range(args, i, -32768, 32767));
  }
  // As the float that it is used as: infinity times a quotient of 0 is no number.
  return std::isfinite(static_cast<float>(args.number(kOutScale)))
             ? Error::kOk
             : args.refuse(kOutScale, Error::kArgumentValue);
}

template <typename T>
void divide(const Args& args) {
  const int32_t self_zero_point = args.integer(kSelfZeroPoint);
  const int32_t other_zero_point = args.integer(kOtherZeroPoint);
  const auto out_zero_point = static_cast<float>(args.integer(kOutZeroPoint));
  const auto scale = static_cast<float>(args.number(kOutScale));
  constexpr float kLow = std::numeric_limits<T>::min();
  constexpr float kHigh = std::numeric_limits<T>::max();
  elementwise<T>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), [&](T a, T b) {
    const int32_t divisor = b - other_zero_point;
    const float quotient =
        divisor == 0 ? 0.0F : static_cast<float>(a - self_zero_point) / static_cast<float>(divisor);
    const float result = std::nearbyint(quotient * scale) + out_zero_point;
    return static_cast<T>(result < kLow ? kLow : (result > kHigh ? kHigh : result));
  });
}

Error run(const Args& args, std::span<std::byte>) {
  if (args.tensor(kOut).type() == ScalarType::kChar) {
    divide<int8_t>(args);
  } else {
    divide<int16_t>(args);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_div.out", prepare, run);

}  // namespace rt::kernels
