// Fixed-point rescaling of int32 accumulators, bit-exact to ExecuTorch's `requantize_cmsis`
// (backends/cortex_m/passes/passes_utils.py), which follows CMSIS-NN's arm_nn_requantize.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/core/error.hpp"

namespace rt::kernels {

// Sums of a corrupt program may overflow; torch's wrap, so these do.
inline int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

inline constexpr int32_t kMinShift = -62;
inline constexpr int32_t kMaxShift = 31;

// A multiplier below zero comes of a folded negative factor. INT32_MIN is left out because only
// without it does the rounded product fit 32 bits.
inline Error check_requantization(int32_t multiplier, int32_t shift) {
  const bool fits =
      multiplier != std::numeric_limits<int32_t>::min() && shift >= kMinShift && shift <= kMaxShift;
  return fits ? Error::kOk : Error::kArgumentValue;
}

// @return value * multiplier * 2^(shift - 31), rounded in two steps: the product to nearest (ties
//     up), then the right shift to nearest (ties away from zero).
inline int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
  constexpr uint64_t kHalf = uint64_t{1} << 30;
  if (shift > 0) {
    // Wraps where 64 bits do not hold the product, as torch's int64 does.
    const auto shifted = static_cast<uint64_t>(int64_t{value} << shift);
    const uint64_t product = shifted * static_cast<uint64_t>(int64_t{multiplier});
    return static_cast<int32_t>(static_cast<int64_t>(product + kHalf) >> 31);
  }
  const int64_t product = int64_t{value} * multiplier;
  const auto high = static_cast<int32_t>((product + static_cast<int64_t>(kHalf)) >> 31);
  if (shift == 0) return high;
  if (shift < -31) return 0;  // every 31-bit number rounds to zero
  const auto right = static_cast<uint32_t>(-shift);
  const auto mask = static_cast<int32_t>((uint32_t{1} << right) - 1);
  const int32_t remainder = high & mask;
  const int32_t quotient = high >> right;
  const int32_t threshold = (mask >> 1) + (quotient < 0 ? 1 : 0);
  return quotient + (remainder > threshold ? 1 : 0);
}

inline int32_t clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : (value > high ? high : value);
}

// Whether a zero point, or an offset that is a negated one, belongs to int8.
inline bool is_int8(int32_t value) { return value >= -128 && value <= 127; }
inline bool is_negated_int8(int32_t value) { return value >= -127 && value <= 128; }

}  // namespace rt::kernels
