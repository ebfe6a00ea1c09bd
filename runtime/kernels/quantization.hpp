// From float to int8, element by element.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/kernels/requantize.hpp"

namespace rt::kernels {

// @return `value` rounded to nearest, ties to even, as rintf does; needs |value| < 2^22.
//
// Adding 1.5 * 2^23 leaves the integer in the low bits of the sum, rounded by the addition itself.
// The library's rintf costs 5 % of MobileNetV1 on cores whose FPU has no rounding instruction.
inline int32_t round_to_even(float value) {
  constexpr float kMagic = 12582912.0F;
  return std::bit_cast<int32_t>(value + kMagic) - std::bit_cast<int32_t>(kMagic);
}

struct Quantization {
  float inverse;  // of the scale
  int32_t zero_point, low, high;

  int8_t operator()(float value) const {
    // Beyond this the result is a bound whatever the zero point is.
    constexpr float kFar = 1024.0F;
    const float scaled = value * inverse;
    int32_t result = 0;  // of a NaN, as torch has it on the host
    if (scaled >= -kFar && scaled <= kFar) {
      result = clamp(round_to_even(scaled) + zero_point, low, high);
    } else if (scaled > 0.0F) {
      result = high;
    } else if (scaled < 0.0F) {
      result = low;
    }
    return static_cast<int8_t>(result);
  }
};

}  // namespace rt::kernels
