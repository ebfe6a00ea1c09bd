// Dot products of int8 weights, as exported, and activations as they are; dot.S.
//
// The input's offset is folded into the bias: sum((a + offset) * w) = sum(a * w) + offset * sum(w).
// Loops are tail-predicated: any depth, no read beyond it.
#pragma once

#include <cstdint>

namespace rt::kernels::mve {

inline constexpr int32_t kPixels = 3;    // rows of activations at once
inline constexpr int32_t kChannels = 4;  // lanes of a vector of sums

// Three rows of activations times rows of weights.
struct Dot3 {
  const int8_t* activations[kPixels];
  int32_t depth;           // >= 1
  int32_t start[kPixels];  // added to the sums of a row
  const int32_t* bias;     // folded
  const int32_t* multipliers;
  const int32_t* shifts;  // below 0; multipliers and shifts are vectors of four
  int32_t scale_step;     // bytes from one vector to the next: 16, or 0 for one for all
  int8_t* out[kPixels];
  int32_t channels;  // a multiple of 4, >= 4
  int32_t offset, min, max;
};

// One row of activations, one multiplier and shift.
struct Dot1 {
  const int8_t* activations;
  int32_t depth;
  const int32_t* bias;
  int32_t multiplier, shift;
  int32_t offset, min, max;
  int8_t* out;
  int32_t channels;
};

struct Fold {
  int32_t depth;
  int32_t channels;
  int32_t offset;
  int32_t bias_step;  // sizeof(int32_t), or 0 for one bias for all
};

extern "C" {
void rt_mve_dot3(const Dot3* dot, const int8_t* weights);
// The same for needs_away(dot->offset, dot->min) == false.
void rt_mve_dot3_relu(const Dot3* dot, const int8_t* weights);
void rt_mve_dot1(const Dot1* dot, const int8_t* weights);
// folded[c] = bias[c] + offset * sum of row c of the weights.
void rt_mve_fold_offset(const int32_t* bias, const int8_t* weights, int32_t* folded,
                        const Fold* fold);
}

// VRSHL takes any shift to the right; a shift of 0 would lose the rounding's correction.
inline bool scale_fits(int32_t shift) { return shift < 0; }

// Whether ties below zero must be rounded away from it: not if the clamp makes all that is negative
// before the offset one value, as a fused ReLU does.
inline bool needs_away(int32_t offset, int32_t min) { return min < offset; }

}  // namespace rt::kernels::mve
