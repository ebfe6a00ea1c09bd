// Words of four int8, pairs of int16, and requantization with the DSP extension.
#pragma once

#include <cstdint>

#include "runtime/core/tensor.hpp"
#include "runtime/kernels/requantize.hpp"

namespace rt::kernels::dsp {

inline int32_t round_up_to_quad(int32_t bytes) { return (bytes + 3) & ~3; }

inline uint32_t load_word(const int8_t* from) {
  uint32_t word = 0;
  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

inline void store_word(int8_t* to, uint32_t word) { __builtin_memcpy(to, &word, sizeof word); }

// Both halves of a word.
constexpr uint32_t both(int32_t value) {
  return static_cast<uint32_t>(value & 0xFFFF) * 0x0001'0001U;
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

// Bytes 0 and 1 of two words, or 2 and 3, as bytes a0 a1 b0 b1.
inline uint32_t pack_low(uint32_t a, uint32_t b) {
  uint32_t packed = 0;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(packed) : "r"(a), "r"(b));
  return packed;
}
inline uint32_t pack_high(uint32_t a, uint32_t b) {
  uint32_t packed = 0;
  asm("pkhtb %0, %1, %2, asr #16" : "=r"(packed) : "r"(b), "r"(a));
  return packed;
}

// `word` with `byte` in its bits 8 to 15.
inline uint32_t insert_byte(uint32_t word, uint32_t byte) {
  asm("bfi %0, %1, #8, #8" : "+r"(word) : "r"(byte));
  return word;
}

// The one addend that rounds the last place and adds the output's offset (dot.S, REQUANTIZE).
constexpr int32_t rounding_of(int32_t output_offset) { return 1 + 2 * output_offset; }

// @return clamp8(requantize(doubled / 2, multiplier, shift) + offset) for a shift below 0.
//
// The doubled value makes SMMULR the rounded product. Shifting by one less, adding 1 + 2 * offset
// and leaving the last place to SSAT rounds and offsets in one addition.
inline int32_t requantize_doubled(int32_t doubled, int32_t multiplier, int32_t inverted_shift,
                                  int32_t rounding) {
  asm("smmulr %0, %0, %1\n\t"
      "add %0, %0, %0, asr #31\n\t"
      "asr %0, %0, %2\n\t"
      "add %0, %0, %3\n\t"
      "ssat %0, #8, %0, asr #1"
      : "+r"(doubled)
      : "r"(multiplier), "r"(inverted_shift), "r"(rounding));
  return doubled;
}

// Whether requantize_doubled may take this shift, and sums of `terms` products with any of these
// biases (nullptr for none), whose doubles must fit 32 bits.
inline bool scale_fits(int32_t shift) { return shift < 0; }
bool sums_fit(const Tensor* bias, int32_t terms);

// Clamps bytes to bounds tighter than int8's.
void clamp_bytes(int8_t* data, uint32_t count, int32_t low, int32_t high);

}  // namespace rt::kernels::dsp
