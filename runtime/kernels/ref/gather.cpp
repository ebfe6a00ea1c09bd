// aten::gather: out[.., i, ..] = input[.., index[.., i, ..], ..] along a
// dimension. Any type.

#include <cstring>

#include "runtime/kernels/indices.hpp"
#include "runtime/kernels/parts.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kIndices, kSparse, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("titbo="));
  const Tensor &input = args.tensor(kInput);
  const Tensor &indices = args.tensor(kIndices);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  RT_TRY(expect_indices(args, indices, kIndices));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  bool fits = indices.rank() == input.rank();
  for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
    fits = dim == along || indices.size(dim) <= input.size(dim);
  }
  if (!fits) return args.refuse(kIndices, Error::kArgumentShape);
  return same_shape(indices, args.tensor(kOut)) ? Error::kOk
                                                : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const Tensor &indices = args.tensor(kIndices);
  Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const uint32_t bytes = element_bytes(out.type());
  const Strides in_strides = input.strides();
  Cursor at(indices);
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, at.next(), to.next()) {
    int32_t index = 0;
    RT_TRY(read_index(indices, at.offset(), input.size(along), index));
    int32_t from = index * in_strides.of[along];
    for (uint32_t dim = 0; dim < input.rank(); ++dim) {
      if (dim != along) from += at.index(dim) * in_strides.of[dim];
    }
    std::memmove(out.data() + static_cast<uint32_t>(to.offset()) * bytes,
                 input.data() + static_cast<uint32_t>(from) * bytes, bytes);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::gather.out", prepare, run);

}  // namespace rt::kernels
