// Pads that repeat what is there: reflection and replication, over the last one to three
// dimensions.
#pragma once

#include <cstring>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {

// The list has pairs (before, after), the last dimension first. @return the amount before a
// dimension.
inline int32_t pad_before(const IntList& pad, uint32_t rank, uint32_t dim) {
  const uint32_t entry = 2 * (rank - 1 - dim);
  return entry < pad.count() ? pad[entry] : 0;
}

// Kernels (input, pad, out). `kDims`: how many dimensions are padded; `kInside`: what a size must
// exceed a pad by, 1 where an edge is not repeated.
template <uint32_t kDims, int32_t kInside>
Error prepare_edge_pad(Args& args, Needs&) {
  RT_TRY(args.match("tlo="));
  const Tensor& input = args.tensor(0);
  const Tensor& out = args.tensor(2);
  const IntList pad = args.list(1);
  RT_TRY(expect_type(args, {2}, input.type()));
  const uint32_t rank = input.rank();
  if (rank != kDims + 1 && rank != kDims + 2) return args.refuse(0, Error::kArgumentShape);
  if (pad.count() != 2 * kDims) return args.refuse(1, Error::kArgumentValue);
  if (out.rank() != rank) return args.refuse(2, Error::kArgumentShape);
  for (uint32_t dim = 0; dim < rank; ++dim) {
    const uint32_t entry = 2 * (rank - 1 - dim);
    const bool padded = entry < pad.count();
    const int32_t before = padded ? pad[entry] : 0;
    const int32_t after = padded ? pad[entry + 1] : 0;
    const int32_t most = kInside == 0 ? INT32_MAX : input.size(dim) - kInside;
    if (before < 0 || after < 0) return args.refuse(1, Error::kArgumentValue);
    if (padded && (before > most || after > most)) return args.refuse(1, Error::kArgumentValue);
    if (padded && input.size(dim) == 0) return args.refuse(0, Error::kArgumentShape);
    if (int64_t{input.size(dim)} + before + after != out.size(dim)) {
      return args.refuse(2, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

// `kSource(i, size)`: index in [0, size) of what stands `i` steps from a dimension's begin.
template <int32_t (*kSource)(int32_t, int32_t)>
Error run_edge_pad(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(0);
  Tensor& out = args.tensor(2);
  const IntList pad = args.list(1);
  const Strides strides = input.strides();
  const uint32_t bytes = element_bytes(out.type());
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, to.next()) {
    int32_t from = 0;
    for (uint32_t dim = 0; dim < out.rank(); ++dim) {
      const int32_t index = to.index(dim) - pad_before(pad, out.rank(), dim);
      from += kSource(index, input.size(dim)) * strides.of[dim];
    }
    std::memcpy(out.data() + static_cast<uint32_t>(to.offset()) * bytes,
                input.data() + static_cast<uint32_t>(from) * bytes, bytes);
  }
  return Error::kOk;
}

}  // namespace rt::kernels
