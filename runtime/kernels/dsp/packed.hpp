// Packed weights: int8 weights re-encoded at the same size by bench/rewrite/dsp_weights.py, so that
// one SXTB16 unpacks what takes two as exported. Operators that read them have the overload `dsp1`.
//
// Of four weights w0..w3 of a filter, the word's halves as int16 are 256 * w1 + w0 and 256 * w3 +
// w2. Of four activations a0..a3, as they are, o is (a1 - 127, a3 - 127) and e is (256 * a0 -
// o_low, 256 * a2 - o_high), which fit 16 bits. Then SMLAD(word, o) + SMLAD(SXTB16(word), e) is
//   256 * (w0 a0 + w1 (a1 - 127) + w2 a2 + w3 (a3 - 127)),
// and sums are 256 times the dot products if the bias is packed with them:
//   256 * (bias + input offset * sum of the filter + 127 * sum of its odd weights).
// The packer packs only filters whose sums stay within 2^23 whatever the input.
//
// 256 * w1 + w0 may be as low as -32,896, for w1 = -128 and w0 < 0. One such half of a filter may
// be stored modulo 2^16: the low byte of the bias says how many words from the filter's end it
// lies.
#pragma once

#include <cstdint>

#include "runtime/kernels/dsp/dot.hpp"

namespace rt::kernels::dsp {

inline constexpr int32_t kPackedStep = 8;  // the depth of a filter is a multiple of it

// `octets`, depth / 8, is at least 1.
struct Packed5 {
  const int32_t* activations;  // of each pair, a word of each of the five rows
  int32_t octets;
  const int32_t* bias;  // packed, one a channel
  const int32_t* multipliers;
  int8_t* out;
  int32_t channels;            // >= 1
  int32_t shifts_after_bytes;  // from a channel's multiplier to its shift, which is below 0
  int32_t rounding;            // rounding_of(output offset)
  int32_t out_stride;          // from row to row
};

struct Packed1 {
  const int32_t* activations;  // pairs of one row
  int32_t octets;
  const int32_t* bias;  // packed, one a channel
  int32_t depth;
  int32_t multiplier;  // of all channels
  int32_t shift;
  int32_t rounding;
  int8_t* out;
  int32_t groups;  // of three channels, >= 1
};

extern "C" {
// `weights` are rows of 8 * octets bytes, 4-byte aligned.
void rt_dsp_packed5(const Packed5* dot, const int8_t* weights);
void rt_dsp_packed1(const Packed1* dot, const int8_t* weights);
}

// What four activations become: o, then e.
class PackedQuads {
 public:
  explicit PackedQuads(int32_t zero_point) {
    const uint32_t byte = static_cast<uint8_t>(zero_point);
    zero_first_ = first(byte * 0x0101'0101U);
    zero_second_ = second(byte * 0x0101'0101U, zero_first_);
  }
  int32_t first(uint32_t bytes) const { return widen_odd(both(-127), bytes); }
  int32_t second(uint32_t bytes, int32_t o) const {
    int32_t e = 0;
    asm("ssub16 %0, %1, %2" : "=r"(e) : "r"(bytes << 8 & 0xFF00'FF00U), "r"(o));
    return e;
  }
  int32_t zero_first() const { return zero_first_; }
  int32_t zero_second() const { return zero_second_; }

 private:
  int32_t zero_first_ = 0, zero_second_ = 0;
};

// Whether what only the packer writes is there: weights and bias that can be read as packed.
inline bool reads_as_packed(const Tensor& weight, const Tensor* bias, int32_t terms) {
  return terms >= kPackedStep && terms % kPackedStep == 0 && weight.is_constant() &&
         bias != nullptr && bias->is_constant() &&
         reinterpret_cast<uintptr_t>(weight.data()) % sizeof(int32_t) == 0;
}

}  // namespace rt::kernels::dsp
