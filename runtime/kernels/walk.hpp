// Walks over tensors of any layout, row by row, without recursion.
#pragma once

#include <cstdint>

#include "runtime/core/tensor.hpp"

namespace rt::kernels {

// Visits the same index space in `kOperands` tensors at once. Dimensions are given from outer to
// inner; a stride of 0 repeats (broadcasts) an operand along a dimension.
template <uint32_t kOperands>
class Walk {
 public:
  // Appends an inner dimension; one of size 1 changes nothing, and one that continues the
  // dimension before it in every operand lengthens that instead, so that dense tensors are one row.
  void add(int32_t size, const int32_t (&stride)[kOperands]) {
    if (size == 1) return;
    if (rank_ > 0 && continues(size, stride)) {
      size_[rank_ - 1] *= size;
    } else {
      size_[rank_++] = size;
    }
    for (uint32_t k = 0; k < kOperands; ++k) stride_[rank_ - 1][k] = stride[k];
  }

  // Calls row(count, offsets, strides) for each row along the innermost dimension.
  template <typename Row>
  void rows(Row row) const {
    static constexpr int32_t kOnce[kOperands] = {};
    int32_t offset[kOperands] = {};
    if (rank_ == 0) {
      row(1, offset, kOnce);
      return;
    }
    for (uint32_t dim = 0; dim < rank_; ++dim) {
      if (size_[dim] == 0) return;
    }
    const uint32_t inner = rank_ - 1;
    int32_t index[kMaxRank] = {};
    while (true) {
      row(size_[inner], offset, stride_[inner]);
      uint32_t dim = inner;
      while (dim > 0 && !advance(dim - 1, index, offset)) --dim;
      if (dim == 0) return;
    }
  }

 private:
  bool continues(int32_t size, const int32_t (&stride)[kOperands]) const {
    for (uint32_t k = 0; k < kOperands; ++k) {
      if (stride_[rank_ - 1][k] != int64_t{stride[k]} * size) return false;
    }
    return true;
  }

  // Steps one dimension. @return false if it ended and was set back to its start.
  bool advance(uint32_t dim, int32_t (&index)[kMaxRank], int32_t (&offset)[kOperands]) const {
    const bool ended = ++index[dim] == size_[dim];
    const int32_t steps = ended ? 1 - size_[dim] : 1;
    for (uint32_t k = 0; k < kOperands; ++k) offset[k] += steps * stride_[dim][k];
    if (ended) index[dim] = 0;
    return !ended;
  }

  uint32_t rank_ = 0;
  int32_t size_[kMaxRank] = {};
  int32_t stride_[kMaxRank][kOperands] = {};
};

// Whether torch's rules broadcast `operand` to the shape of `out`.
inline bool broadcasts_to(const Tensor& operand, const Tensor& out) {
  if (operand.rank() > out.rank()) return false;
  const uint32_t skipped = out.rank() - operand.rank();
  for (uint32_t dim = 0; dim < operand.rank(); ++dim) {
    const int32_t size = operand.size(dim);
    if (size != 1 && size != out.size(dim + skipped)) return false;
  }
  return true;
}

// @return the operand's stride along a dimension of the tensor it is broadcast to.
inline int32_t broadcast_stride(const Tensor& operand, const Strides& strides, uint32_t out_dim,
                                uint32_t out_rank) {
  const uint32_t skipped = out_rank - operand.rank();
  if (out_dim < skipped || operand.size(out_dim - skipped) == 1) return 0;
  return strides.of[out_dim - skipped];
}

// Elementwise out = function(a, b), broadcast; visits `out` as it lies in memory.
template <typename T, typename Function>
void elementwise(const Tensor& a, const Tensor& b, Tensor& out, Function function) {
  const Strides a_strides = a.strides();
  const Strides b_strides = b.strides();
  const Strides out_strides = out.strides();
  Walk<3> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {broadcast_stride(a, a_strides, dim, out.rank()),
                             broadcast_stride(b, b_strides, dim, out.rank()), out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[3], const int32_t(&stride)[3]) {
    const T* x = a.as<T>() + offset[0];
    const T* y = b.as<T>() + offset[1];
    T* z = out.as<T>() + offset[2];
    for (int32_t i = 0; i < count; ++i, x += stride[0], y += stride[1], z += stride[2]) {
      *z = function(*x, *y);
    }
  });
}

}  // namespace rt::kernels
