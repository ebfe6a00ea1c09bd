// Dot products of int8 weights, as exported, and activations widened to 16 bits; dot.S.
//
// Activations are widened once and used for every output channel. The input's offset is added while
// widening, so that padding is zero and no sums of weights are needed. Bytes 0 and 2 of four are a
// pair (a word of two int16), 1 and 3 another: what SXTB16 makes of a word of weights too.
#pragma once

#include <cstdint>

#include "runtime/kernels/dsp/requantize.hpp"

namespace rt::kernels::dsp {

inline constexpr int32_t kRows = 5;  // what the registers hold of sums and activations at once

// Where sums go, channel by channel. A step is 0 or sizeof(int32_t), for one value for all.
struct Dot5 {
  const int32_t* activations;  // of each pair, a word of each of the five rows
  const int32_t* bias;
  int32_t bias_step;
  const int32_t* multipliers;
  const int32_t* shifts;  // below 0
  int32_t scale_step;
  int32_t rounding;  // rounding_of(output offset)
  int8_t* out;
  int32_t out_stride;  // from row to row; 0 keeps the first row
  int32_t channels;    // >= 1
  int32_t quads;       // depth / 4
  int32_t tail;        // depth % 4
};

struct Dot1 {
  const int32_t* activations;  // pairs of one row
  const int32_t* bias;         // one a channel
  int32_t depth;               // a multiple of 4
  int32_t multiplier;          // of all channels
  int32_t shift;
  int32_t rounding;
  int8_t* out;
  int32_t groups;  // of three channels, >= 1
};

extern "C" {
// `weights` are rows of 4 * quads + tail bytes, of any alignment.
void rt_dsp_dot5(const Dot5* dot, const int8_t* weights);
// `weights` are rows of `depth` bytes, 4-byte aligned.
void rt_dsp_dot1(const Dot1* dot, const int8_t* weights);
}

// Widens quads into `kStep` words a pair. @return where the next pair goes.
template <int32_t kStep>
inline int32_t* widen(int32_t* to, const int8_t* from, int32_t quads, uint32_t offset) {
  for (; quads >= 4; quads -= 4, from += 16, to += 8 * kStep) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < 4; ++i) {
      const uint32_t bytes = load_word(from + 4 * i);
      to[2 * i * kStep] = widen_even(offset, bytes);
      to[(2 * i + 1) * kStep] = widen_odd(offset, bytes);
    }
  }
  for (; quads > 0; --quads, from += 4, to += 2 * kStep) {
    const uint32_t bytes = load_word(from);
    to[0] = widen_even(offset, bytes);
    to[kStep] = widen_odd(offset, bytes);
  }
  return to;
}

// The same for any count of bytes; what lies beyond them in the last pairs is of no meaning.
template <int32_t kStep>
inline void widen_row(int32_t* to, const int8_t* from, int32_t count, uint32_t offset) {
  to = widen<kStep>(to, from, count >> 2, offset);
  const int32_t tail = count & 3;
  if (tail == 0) return;
  const uint32_t bytes = load_tail(from + (count & ~3), tail);
  to[0] = widen_even(offset, bytes);
  to[kStep] = widen_odd(offset, bytes);
}

template <int32_t kStep>
inline int32_t* zero(int32_t* to, int32_t quads) {
  for (; quads > 0; --quads, to += 2 * kStep) to[0] = to[kStep] = 0;
  return to;
}

}  // namespace rt::kernels::dsp
