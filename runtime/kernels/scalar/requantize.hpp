// Requantization for cores without the DSP extension (Cortex-M0+, M3), shifts to the right alone.
#pragma once

#include <cstdint>

#include "runtime/kernels/requantize.hpp"

namespace rt::kernels::scalar {

#if __ARM_ARCH_ISA_THUMB >= 2

// @return value * multiplier * 2^-31, to nearest, ties up.
class HighProduct {
 public:
  explicit HighProduct(int32_t multiplier) : multiplier_(multiplier) {}
  int32_t operator()(int32_t value) const {
    return static_cast<int32_t>((int64_t{value} * multiplier_ + (int64_t{1} << 30)) >> 31);
  }

 private:
  int32_t multiplier_;
};

#else

// The same where the longest product has 32 bits: of v = 2^16 v1 + v0 and m = 2^16 m1 + m0 it is
// 2 v1 m1 + (v1 m0 + v0 m1 + (v0 m0 >> 16) + 2^14 >> 15); what is shifted out adds no carry.
class HighProduct {
 public:
  explicit HighProduct(int32_t multiplier)
      : high_(multiplier >> 16), low_(static_cast<uint32_t>(multiplier) & 0xFFFF) {}
  int32_t operator()(int32_t value) const {
    const int32_t v1 = value >> 16;
    const uint32_t v0 = static_cast<uint32_t>(value) & 0xFFFF;
    // Neither of these leaves 32 bits: |v1| and |m1| are 2^15 at most, v0 and m0 below 2^16.
    const int32_t a = v1 * static_cast<int32_t>(low_) + static_cast<int32_t>((v0 * low_) >> 16);
    const int32_t b = static_cast<int32_t>(v0) * high_;
    const int32_t carries = ((a & 0x7FFF) + (b & 0x7FFF) + (1 << 14)) >> 15;
    return 2 * v1 * high_ + (a >> 15) + (b >> 15) + carries;
  }

 private:
  int32_t high_;
  uint32_t low_;
};

#endif

// From sum to output of one channel.
class Requantization {
 public:
  // `shift` below 0.
  Requantization(int32_t multiplier, int32_t shift, int32_t offset, int32_t low, int32_t high)
      : product_(multiplier),
        shift_less_1_(shift < -32 ? 31 : ~shift),
        offset_(offset),
        low_(low),
        high_(high) {}

  // One is taken from values below zero, so that ties go away from it.
  int8_t operator()(int32_t sum) const {
    int32_t value = product_(sum);
    value = (value + (value >> 31)) >> shift_less_1_;
    return static_cast<int8_t>(clamp((value >> 1) + (value & 1) + offset_, low_, high_));
  }

 private:
  HighProduct product_;
  int32_t shift_less_1_;
  int32_t offset_, low_, high_;
};

}  // namespace rt::kernels::scalar
