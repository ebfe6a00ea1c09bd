// Products of float rows for an FPU (fpu/float_dot.S) and for Helium (mve/float_dot.S). Every
// output is one sum, added up in the order of its terms, products rounded before they are added, so
// that it is the reference kernels' to the bit. Helium takes and gives zero for subnormal numbers.
#pragma once

#include <cstdint>

namespace rt::kernels::fpu {

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
inline constexpr int32_t kPixels = 4;
#else
inline constexpr int32_t kPixels = 3;
#endif
inline constexpr int32_t kDotChannels = 4;
inline constexpr int32_t kLaneChannels = 8;

// For kPixels rows of inputs and 4 * `blocks` rows of weights,
//   out[p][c] = sum over rows and count of x[p] * weights[c], + bias[c]
// Elements of a run lie one behind the other; gaps lead from a run's end to the next one's begin.
// Overwritten by the call, but for x.
struct Dot {
  const float* x[kPixels];
  float* out[kPixels];  // 4 * blocks elements each; equal ones are written with equal values
  const float* bias;    // nullptr: none
  const float* weights;
  int32_t weights_row;  // bytes from one row of weights to the next
  int32_t count;        // elements of a run, at least 1
  int32_t rows;         // runs, may be 0
  int32_t x_gap;        // bytes
  int32_t weights_gap;  // bytes
  int32_t blocks;       // at least 1
};

// For 8 * `blocks` channels, out[c] = sum over rows and columns of x[c] * weights[c], + bias[c].
// Overwritten by the call.
struct Lanes {
  const float* x;
  float* out;
  const float* bias;  // nullptr: none
  const float* weights;
  int32_t rows, columns;  // may be 0
  int32_t x_column, x_gap;
  int32_t weights_column, weights_gap;  // bytes; gaps lead from a row's end to the next one's begin
  int32_t blocks;                       // at least 1
};

// For 4 * `blocks` rows of weights, out[j] = sum over depth of x[k] * weights[j][k], + bias[j].
// Overwritten by the call, but for x.
struct Dot1 {
  const float* x;
  float* out;
  const float* bias;  // nullptr: none
  const float* weights;
  int32_t weights_row;  // bytes
  int32_t depth;        // may be 0
  int32_t blocks;       // at least 1
};

// The same of 8 * `blocks` columns: out[j] = sum over depth of x[k] * weights[k][j], + bias[j].
struct Columns {
  const float* x;
  float* out;
  const float* bias;  // nullptr: none
  const float* weights;
  int32_t weights_row;  // bytes
  int32_t depth;        // may be 0
  int32_t blocks;       // at least 1
};

extern "C" {
void rt_float_dot(Dot* dot);
void rt_float_lanes(Lanes* lanes);
void rt_float_dot1(Dot1* dot);
void rt_float_columns(Columns* columns);
}

}  // namespace rt::kernels::fpu
