// Permuting copies: arguments (input, permutation, out), any type, any layouts.
#pragma once

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {

// @return the permutation's entry, negative ones counted from the end as torch does.
inline uint32_t permuted_dim(const IntList& permutation, uint32_t i, uint32_t rank) {
  const int32_t dim = permutation[i];
  return static_cast<uint32_t>(dim < 0 ? dim + static_cast<int32_t>(rank) : dim);
}

inline Error check_permute(Args& args) {
  const Tensor& input = args.tensor(0);
  const IntList permutation = args.list(1);
  const Tensor& out = args.tensor(2);
  RT_TRY(expect_type(args, {2}, input.type()));
  const uint32_t rank = input.rank();
  if (permutation.count() != rank) return args.refuse(1, Error::kArgumentValue);
  if (out.rank() != rank) return args.refuse(2, Error::kArgumentShape);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint32_t dim = permuted_dim(permutation, i, rank);
    if (dim >= rank || (seen >> dim & 1U) != 0) return args.refuse(1, Error::kArgumentValue);
    seen |= 1U << dim;
    if (out.size(i) != input.size(dim)) return args.refuse(2, Error::kArgumentShape);
  }
  return Error::kOk;
}

inline void permute(const Args& args) {
  const Tensor& input = args.tensor(0);
  const IntList permutation = args.list(1);
  Tensor& out = args.tensor(2);
  const Strides input_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    const uint32_t from = permuted_dim(permutation, dim, input.rank());
    walk.add(out.size(dim), {input_strides.of[from], out_strides.of[dim]});
  }
  copy_elements(walk, input, 0, out, 0);
}

}  // namespace rt::kernels
