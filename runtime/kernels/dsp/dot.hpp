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

// What four activations become: two words of pairs. These have the input's offset added.
struct AddedQuads {
  uint32_t offset;  // in both halves
  int32_t first(uint32_t bytes) const { return widen_even(offset, bytes); }
  int32_t second(uint32_t bytes, int32_t) const { return widen_odd(offset, bytes); }
  int32_t zero_first() const { return 0; }
  int32_t zero_second() const { return 0; }
};

// Widens quads into `kStep` words a pair. @return where the next pair goes.
template <int32_t kStep, typename Quads>
inline int32_t* widen(int32_t* to, const int8_t* from, int32_t count, Quads quads) {
  // By value: what is stored could change what a reference leads to.
  const auto store = [quads](int32_t* pairs, uint32_t bytes) {
    const int32_t first = quads.first(bytes);
    pairs[0] = first;
    pairs[kStep] = quads.second(bytes, first);
  };
  for (; count >= 4; count -= 4, from += 16, to += 8 * kStep) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < 4; ++i) store(to + 2 * i * kStep, load_word(from + 4 * i));
  }
  for (; count > 0; --count, from += 4, to += 2 * kStep) store(to, load_word(from));
  return to;
}

// The same for any count of bytes; what lies beyond them in the last pairs is of no meaning.
template <int32_t kStep, typename Quads>
inline void widen_row(int32_t* to, const int8_t* from, int32_t count, Quads quads) {
  to = widen<kStep>(to, from, count >> 2, quads);
  const int32_t tail = count & 3;
  if (tail == 0) return;
  const uint32_t bytes = load_tail(from + (count & ~3), tail);
  to[0] = quads.first(bytes);
  to[kStep] = quads.second(bytes, to[0]);
}

// Quads of activations that are zero.
template <int32_t kStep, typename Quads>
inline int32_t* zero(int32_t* to, int32_t count, Quads quads) {
  for (; count > 0; --count, to += 2 * kStep) {
    to[0] = quads.zero_first();
    to[kStep] = quads.zero_second();
  }
  return to;
}

}  // namespace rt::kernels::dsp
