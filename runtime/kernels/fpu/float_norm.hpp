// Normalization of float rows, for an FPU (fpu/float_norm.S) and for Helium (mve/float_norm.S):
// four rows at a time, each one's sums in the order of its elements.
#pragma once

#include <cstdint>

namespace rt::kernels::fpu {

inline constexpr uint32_t kNormRows = 4;

// Counts are at least 1.
extern "C" {
// sums[r] = sum of x[r]
void rt_float_sums(const float* const* x, uint32_t count, float* sums);
// sums[r] = sum of (x[r] - means[r])^2
void rt_float_squares(const float* const* x, uint32_t count, const float* means, float* sums);

struct Normal {
  float mean, inverse;
  const float* scale;
  const float* shift;
};
// out = (x - mean) * inverse * scale + shift; `out` may be x.
void rt_float_normalize(const float* x, float* out, uint32_t count, const Normal* normal);
}

}  // namespace rt::kernels::fpu
