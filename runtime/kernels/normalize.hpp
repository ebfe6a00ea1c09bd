// Mean and deviation of float rows.
#pragma once

#include <cstdint>

namespace rt::kernels {

struct Moments {
  float mean, inverse;  // inverse: 1 / sqrt(variance + epsilon)
};

// Two passes: the variance is summed around the mean, so that a large mean costs no digits.
inline Moments moments_of(const float* in, uint32_t count, float epsilon) {
  const auto size = static_cast<float>(count);
  float sum = 0.0F;
  for (uint32_t i = 0; i < count; ++i) sum += in[i];
  const float mean = sum / size;
  float squares = 0.0F;
  for (uint32_t i = 0; i < count; ++i) squares += (in[i] - mean) * (in[i] - mean);
  return {mean, 1.0F / __builtin_sqrtf(squares / size + epsilon)};
}

}  // namespace rt::kernels
