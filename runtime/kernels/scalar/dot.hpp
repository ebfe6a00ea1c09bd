// Dot products of int8 weights, as exported, and activations widened to words, for cores without
// the DSP extension; dot_thumb1.S (Armv6-M), dot_thumb2.S (Armv7-M).
//
// LDM loads a word of each of five rows at once, which one weight meets: what the registers hold.
// The input's offset is added while widening, so that padding is zero.
#pragma once

#include <cstdint>

namespace rt::kernels::scalar {

inline constexpr int32_t kRows = 5;
inline constexpr int32_t kChannels = 4;  // that one row meets at once

extern "C" {
// Sums of five rows times one row of weights. `activations` has a word of each of the five rows,
// `depth` >= 1 times.
void rt_scalar_dot5(const int32_t* activations, const int8_t* weights, int32_t depth,
                    int32_t* sums);
// Sums of one row times four rows of weights, which lie `depth` >= 1 bytes apart.
void rt_scalar_dot1(const int32_t* activations, const int8_t* weights, int32_t depth,
                    int32_t* sums);
}

// Widens bytes to every `kStep`th word. @return where the next one goes.
template <int32_t kStep>
inline int32_t* widen(int32_t* to, const int8_t* from, int32_t count, int32_t offset) {
  for (; count >= 4; count -= 4, from += 4, to += 4 * kStep) {
    to[0] = from[0] + offset;
    to[kStep] = from[1] + offset;
    to[2 * kStep] = from[2] + offset;
    to[3 * kStep] = from[3] + offset;
  }
  for (; count > 0; --count, ++from, to += kStep) *to = *from + offset;
  return to;
}

template <int32_t kStep>
inline int32_t* zero(int32_t* to, int32_t count) {
  for (; count > 0; --count, to += kStep) *to = 0;
  return to;
}

}  // namespace rt::kernels::scalar
