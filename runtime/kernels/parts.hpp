// Copies of parts of tensors, of any type and layout.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"

namespace rt::kernels {

// A part of a tensor: its first index and step along one dimension, all of the
// others.
struct Part {
  uint32_t dim;
  int32_t begin, step;
};

// Copies the part of `from`, which has the shape of `to`, there; both have one
// element size.
void copy_part(const Tensor &from, const Part &part, Tensor &to);
// Copies `from` to the part of `to` that has its shape.
void copy_into_part(const Tensor &from, Tensor &to, const Part &part);

// @return dimension `dim` of that rank, negative ones from the end; `rank` or
// more if there is none.
inline uint32_t part_dim(int32_t dim, uint32_t rank) {
  return static_cast<uint32_t>(dim < 0 ? dim + static_cast<int32_t>(rank) : dim);
}

// Whether two tensors have one rank and differ in no dimension but `dim`.
inline bool same_but_for(const Tensor &a, const Tensor &b, uint32_t dim) {
  if (a.rank() != b.rank()) return false;
  for (uint32_t d = 0; d < a.rank(); ++d) {
    if (d != dim && a.size(d) != b.size(d)) return false;
  }
  return true;
}

// @return argument `i` of a slice (negative ones from the end, None: `fallback`) brought into [0,
// size].
inline int32_t slice_bound(const Args &args, uint32_t i, int32_t fallback, int32_t size) {
  if (args.is_none(i)) return fallback;
  const int64_t index = args.integer(i);
  const int64_t from_start = index < 0 ? index + size : index;
  if (from_start < 0) return 0;
  return from_start > size ? size : static_cast<int32_t>(from_start);
}

// @return how many indices there are from `begin` to before `end` with a step.
inline int64_t slice_count(int32_t begin, int32_t end, int32_t step) {
  const int64_t span = end > begin ? int64_t{end} - begin : 0;
  return (span + step - 1) / step;
}

}  // namespace rt::kernels
