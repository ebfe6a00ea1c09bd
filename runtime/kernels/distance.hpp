// Distances between rows of float32: the p-norm of their difference.
#pragma once

#include <cmath>
#include <cstdint>

namespace rt::kernels {

// Elements `step` apart. p = 0 counts what differs, infinity takes the largest difference.
inline float row_distance(const float* a, int32_t a_step, const float* b, int32_t b_step,
                          int32_t count, float p) {
  float sum = 0.0F;
  for (int32_t i = 0; i < count; ++i) {
    const float difference = std::fabs(a[i * a_step] - b[i * b_step]);
    if (p == 0.0F) {
      sum += difference != 0.0F ? 1.0F : 0.0F;
    } else if (std::isinf(p)) {
      sum = difference > sum || difference != difference ? difference : sum;
    } else if (p == 1.0F) {
      sum += difference;
    } else if (p == 2.0F) {
      sum += difference * difference;
    } else {
      sum += std::pow(difference, p);
    }
  }
  if (p == 0.0F || p == 1.0F || std::isinf(p)) return sum;
  return p == 2.0F ? std::sqrt(sum) : std::pow(sum, 1.0F / p);
}

}  // namespace rt::kernels
