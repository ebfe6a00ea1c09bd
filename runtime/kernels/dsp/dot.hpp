// Dot products of int8 weights, as exported, and activations widened to 16 bits; dot.S.
//
// Activations are widened once and used for every output channel. The input's offset is added while
// widening, so that padding is zero and no sums of weights are needed. Bytes 0 and 2 of four are a
// pair (a word of two int16), 1 and 3 another: what SXTB16 makes of a word of weights too.
#pragma once

#include <cstdint>

#include "runtime/kernels/requantize.hpp"

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
  int32_t rounding;  // of `rounding_of`
  int8_t* out;
  int32_t out_stride;  // from row to row; 0 keeps the first row
  int32_t channels;    // >= 1
  int32_t quads;       // depth / 4
  int32_t tail;        // depth % 4
};

struct Dot1 {
  const int32_t* activations;  // pairs of one row
  const int32_t* bias;
  int32_t bias_step;
  const int32_t* multipliers;
  const int32_t* shifts;
  int32_t scale_step;
  int32_t rounding;
  int8_t* out;
  int32_t groups;  // of three channels, >= 1
  int32_t depth;   // a multiple of 4
};

extern "C" {
// `weights` are rows of 4 * quads + tail bytes, of any alignment.
void rt_dsp_dot5(const Dot5* dot, const int8_t* weights);
// `weights` are rows of `depth` bytes, 4-byte aligned.
void rt_dsp_dot1(const Dot1* dot, const int8_t* weights);
}

// The one addend that rounds the last place and adds the output's offset (dot.S, REQUANTIZE).
constexpr int32_t rounding_of(int32_t output_offset) { return 1 + 2 * output_offset; }

// Both halves of a word.
constexpr uint32_t both(int32_t value) {
  return static_cast<uint32_t>(value & 0xFFFF) * 0x0001'0001U;
}

inline int32_t round_up_to_quad(int32_t bytes) { return (bytes + 3) & ~3; }

inline uint32_t load_word(const int8_t* from) {
  uint32_t word = 0;
  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

// @return the bytes that are there as the low ones of a word.
inline uint32_t load_tail(const int8_t* from, int32_t count) {
  uint32_t word = 0;
  for (int32_t i = 0; i < count; ++i) {
    word |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  }
  return word;
}

// Bytes 0 and 2, or 1 and 3, sign-extended, each added to a half of `offset`.
inline int32_t widen_even(uint32_t offset, uint32_t bytes) {
  int32_t pair = 0;
  asm("sxtab16 %0, %1, %2" : "=r"(pair) : "r"(offset), "r"(bytes));
  return pair;
}
inline int32_t widen_odd(uint32_t offset, uint32_t bytes) {
  int32_t pair = 0;
  asm("sxtab16 %0, %1, %2, ror #8" : "=r"(pair) : "r"(offset), "r"(bytes));
  return pair;
}

// Adds the products of both halves.
inline int32_t multiply_pairs(int32_t a, int32_t b, int32_t sum) {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

// Widens quads into `kStep` words a pair. @return where the next pair goes.
template <int32_t kStep>
inline int32_t* widen(int32_t* to, const int8_t* from, int32_t quads, uint32_t offset) {
  for (; quads >= 4; quads -= 4, from += 16, to += 8 * kStep) {
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

// Whether REQUANTIZE may take sums of `terms` products and this bias: shifts to the right, doubled
// sums within 32 bits.
inline bool scale_fits(int32_t shift) { return shift < 0; }
inline bool sum_fits(int32_t bias, int32_t terms) {
  constexpr int32_t kLimit = 1 << 30;
  constexpr int32_t kLargestProduct = 255 * 128;
  if (terms >= kLimit / kLargestProduct) return false;
  const int32_t room = kLimit - terms * kLargestProduct;
  return bias < room && bias > -room;
}

// Clamps bytes to bounds tighter than int8's.
void clamp_bytes(int8_t* data, uint32_t count, int32_t low, int32_t high);

}  // namespace rt::kernels::dsp
