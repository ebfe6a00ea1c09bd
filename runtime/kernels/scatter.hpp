// What scatter and scatter_add share: arguments (self, dim, index, source, out), and the walk over
// the indices.
#pragma once

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/indices.hpp"
#include "runtime/kernels/parts.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels::scattering {

enum Argument : uint32_t { kInput, kDim, kIndices, kSource, kOut };

inline Error check(Args& args, bool has_source) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& indices = args.tensor(kIndices);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  RT_TRY(expect_indices(args, indices, kIndices));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  bool fits = indices.rank() == input.rank();
  for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
    fits = dim == along || indices.size(dim) <= input.size(dim);
  }
  if (!fits) return args.refuse(kIndices, Error::kArgumentShape);
  if (has_source) {
    const Tensor& source = args.tensor(kSource);
    RT_TRY(expect_type(args, {kSource}, input.type()));
    fits = source.rank() == input.rank();
    for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
      fits = indices.size(dim) <= source.size(dim);
    }
    if (!fits) return args.refuse(kSource, Error::kArgumentShape);
  }
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

// Copies self to out, then calls put(offset in out, offset in the source) for each index in order.
// @return index-out-of-range.
template <typename Put>
Error each(const Args& args, Put put) {
  const Tensor& indices = args.tensor(kIndices);
  Tensor& out = args.tensor(kOut);
  copy_layout(args.tensor(kInput), out);
  const uint32_t along = part_dim(args.integer(kDim), out.rank());
  const Strides to_strides = out.strides();
  const Strides from_strides = args.is_tensor(kSource) ? args.tensor(kSource).strides() : Strides{};
  Cursor at(indices);
  for (uint32_t i = 0; i < indices.numel(); ++i, at.next()) {
    int32_t index = 0;
    RT_TRY(read_index(indices, at.offset(), out.size(along), index));
    int32_t to = index * to_strides.of[along];
    int32_t from = 0;
    for (uint32_t dim = 0; dim < out.rank(); ++dim) {
      if (dim != along) to += at.index(dim) * to_strides.of[dim];
      from += at.index(dim) * from_strides.of[dim];
    }
    put(to, from);
  }
  return Error::kOk;
}

}  // namespace rt::kernels::scattering
