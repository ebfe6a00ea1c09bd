// Scales of quantization, which programs have in double precision. Without operators on doubles: on
// cores that have none in hardware they would bring two kilobytes of library for one division.
#pragma once

#include <bit>
#include <cstdint>

namespace rt::kernels {

// Whether a double is above zero, infinity included.
constexpr bool is_positive(double value) {
  return std::bit_cast<uint64_t>(value) - 1 < 0x7FF0'0000'0000'0000U;
}

// @return 1.0 / scale in double precision, rounded to float, as the exporter's operators have it.
//     `scale` is positive.
inline float inverse_of(double scale) {
  constexpr uint64_t kOne = uint64_t{1} << 52;  // the leading place of a double's 53
  const auto bits = std::bit_cast<uint64_t>(scale);
  const int32_t exponent = static_cast<int32_t>(bits >> 52) - 1023;
  // Far from the range of float.
  if (exponent > 300) return 0.0F;
  if (exponent < -300) return std::bit_cast<float>(0x7F80'0000U);
  const uint64_t divisor = (bits & (kOne - 1)) | kOne;
  uint64_t inverse = bits & (kOne - 1);
  if (inverse == 0) {  // a power of two
    inverse = static_cast<uint64_t>(1023 - exponent) << 52;
  } else {
    // 2^105 / divisor, which has 53 places and is never halfway between two of 53.
    uint64_t rest = kOne;
    for (int32_t place = 0; place < 53; ++place) {
      rest <<= 1;
      inverse <<= 1;
      if (rest >= divisor) {
        rest -= divisor;
        inverse |= 1;
      }
    }
    inverse &= (uint64_t{1} << 53) - 1;
    if (2 * rest > divisor) ++inverse;
    // The leading place adds one to the exponent.
    inverse += static_cast<uint64_t>(1021 - exponent) << 52;
  }
  return static_cast<float>(std::bit_cast<double>(inverse));
}

}  // namespace rt::kernels
