// Products of float matrices for mm, bmm, addmm and linear.
#pragma once

#include "runtime/core/tensor.hpp"
#include "runtime/kernels/fpu/float_dot.hpp"

namespace rt::kernels::fpu {

// The second factor, depth x columns, row-major or, `transposed`, columns x depth.
struct Factor {
  const float* data;
  int32_t depth, columns;
  bool transposed;
};

// Whether there are as many columns as a step takes.
inline bool columns_suffice(const Factor& b) {
  return b.columns >= (b.transposed ? kDotChannels : kLaneChannels);
}

// out = a * b, + bias in every row unless that is nullptr. `a` and `out` are row-major, and `out`
// overlaps nothing that is read.
void multiply(const float* a, int32_t rows, const Factor& b, const float* bias, float* out);

// How the last two dimensions of a tensor of rank 2 or 3 lie.
enum class Lie : uint8_t { kRows, kColumns, kOtherwise };
inline Lie lie_of(const Tensor& tensor) {
  static constexpr uint8_t kSwapped[] = {1, 0};
  static constexpr uint8_t kBatchSwapped[] = {0, 2, 1};
  if (tensor.is_contiguous()) return Lie::kRows;
  return tensor.lies_as(tensor.rank() == 2 ? kSwapped : kBatchSwapped) ? Lie::kColumns
                                                                       : Lie::kOtherwise;
}

}  // namespace rt::kernels::fpu
