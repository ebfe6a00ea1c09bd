// aten::index: elements by tensors of indices, one a dimension (None: all of
// it). Any type.

#include <cstring>

#include "runtime/kernels/index_places.hpp"
#include "runtime/kernels/reshape.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kIndices, kOut };

Error check_shape(Args &args) {
  const Tensor &input = args.tensor(kInput);
  const TensorList indices = args.tensors(kIndices);
  const Tensor &out = args.tensor(kOut);
  const Places places = places_of(args.tensors(kIndices));
  uint32_t from = 0;
  for (uint32_t dim = 0; dim < out.rank(); ++dim) {
    int32_t size = 0;
    if (dim >= places.begin && dim - places.begin < places.rank) {
      size = broadcast_size(indices, places, dim - places.begin);
    } else {
      while (from < input.rank() && (places.indexed >> from & 1U) != 0) ++from;
      if (from == input.rank()) return args.refuse(kOut, Error::kArgumentShape);
      size = input.size(from++);
    }
    if (size < 0) return args.refuse(kIndices, Error::kArgumentShape);
    if (size != out.size(dim)) return args.refuse(kOut, Error::kArgumentShape);
  }
  while (from < input.rank() && (places.indexed >> from & 1U) != 0) ++from;
  return from == input.rank() ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tNo="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  RT_TRY(expect_index_list(args, args.tensor(kInput), kIndices));
  const Places places = places_of(args.tensors(kIndices));
  if (places.begin + places.rank > args.tensor(kOut).rank()) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  return check_shape(args);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const TensorList indices = args.tensors(kIndices);
  Tensor &out = args.tensor(kOut);
  const Places places = places_of(indices);
  const uint32_t bytes = element_bytes(out.type());
  const Strides strides = input.strides();
  Cursor at(out);
  for (uint32_t i = 0; i < out.numel(); ++i, at.next()) {
    int32_t from = 0;
    uint32_t out_dim = 0;
    for (uint32_t dim = 0; dim < input.rank(); ++dim) {
      int32_t index = 0;
      if ((places.indexed >> dim & 1U) != 0) {
        RT_TRY(read_place(indices[dim], at.indices(), places, input.size(dim), index));
      } else {
        if (out_dim == places.begin) out_dim += places.rank;
        index = at.index(out_dim++);
      }
      from += index * strides.of[dim];
    }
    std::memmove(out.data() + static_cast<uint32_t>(at.offset()) * bytes,
                 input.data() + static_cast<uint32_t>(from) * bytes, bytes);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::index.Tensor_out", prepare, run);

}  // namespace rt::kernels
