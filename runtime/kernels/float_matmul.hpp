// Products of float matrices of any layout.
#pragma once

#include <cstdint>

namespace rt::kernels {

// A matrix as its first element and the distances to the next row and column, in elements.
struct Matrix {
  const float* data;
  int32_t row, column;
};

// @return sum over k < depth of a[i, k] * b[k, j], added up in that order.
inline float dot(const Matrix& a, int32_t i, const Matrix& b, int32_t j, int32_t depth) {
  const float* x = a.data + i * a.row;
  const float* y = b.data + j * b.column;
  float sum = 0.0F;
  for (int32_t k = 0; k < depth; ++k, x += a.column, y += b.row) sum += *x * *y;
  return sum;
}

}  // namespace rt::kernels
