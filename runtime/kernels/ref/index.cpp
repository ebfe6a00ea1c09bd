// aten::index: elements by tensors of indices, one a dimension (None: all of
// it). Any type.

#include <cstring>

#include "runtime/kernels/indices.hpp"
#include "runtime/kernels/reshape.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kIndices, kOut };

// Where the broadcast dimensions of the indices stand in the output: in the
// place of the indexed dimensions if those are neighbours, else in front.
struct Places {
  uint32_t indexed;  // a bit each
  uint32_t begin;    // of the indices' dimensions in the output
  uint32_t rank;     // of the broadcast indices
};

Places places_of(const Args &args) {
  const TensorList indices = args.tensors(kIndices);
  Places places = {0, 0, 0};
  uint32_t first = kMaxRank;
  uint32_t last = 0;
  for (uint32_t dim = 0; dim < indices.count(); ++dim) {
    if (indices.is_none(dim)) continue;
    places.indexed |= 1U << dim;
    if (first == kMaxRank) first = dim;
    last = dim;
    if (indices[dim].rank() > places.rank) places.rank = indices[dim].rank();
  }
  const uint32_t span = last + 1 - first;
  const bool neighbours = (places.indexed >> first) == (1U << span) - 1;
  places.begin = neighbours ? first : 0;
  return places;
}

// @return the size of dimension `dim` of the broadcast indices; -1 if they do
// not fit together.
int32_t broadcast_size(const TensorList &indices, const Places &places, uint32_t dim) {
  int32_t size = 1;
  for (uint32_t i = 0; i < indices.count(); ++i) {
    if (indices.is_none(i)) continue;
    const uint32_t skipped = places.rank - indices[i].rank();
    if (dim < skipped || indices[i].size(dim - skipped) == 1) continue;
    if (size != 1 && size != indices[i].size(dim - skipped)) return -1;
    size = indices[i].size(dim - skipped);
  }
  return size;
}

Error check_shape(Args &args) {
  const Tensor &input = args.tensor(kInput);
  const TensorList indices = args.tensors(kIndices);
  const Tensor &out = args.tensor(kOut);
  const Places places = places_of(args);
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
  const TensorList indices = args.tensors(kIndices);
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  if (indices.count() > args.tensor(kInput).rank()) {
    return args.refuse(kIndices, Error::kArgumentShape);
  }
  bool any = false;
  for (uint32_t i = 0; i < indices.count(); ++i) {
    if (indices.is_none(i)) continue;
    any = true;
    RT_TRY(expect_indices(args, indices[i], kIndices));
  }
  if (!any) return args.refuse(kIndices, Error::kArgumentValue);
  const Places places = places_of(args);
  if (places.begin + places.rank > args.tensor(kOut).rank()) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  return check_shape(args);
}

// Reads the index that dimension `dim` of the input has for the output at the
// cursor.
Error indexed(const Tensor &indices, const Cursor &at, const Places &places, int32_t size,
              int32_t &out) {
  const Strides strides = indices.strides();
  const uint32_t skipped = places.rank - indices.rank();
  int32_t offset = 0;
  for (uint32_t dim = 0; dim < indices.rank(); ++dim) {
    if (indices.size(dim) != 1) {
      offset += at.index(places.begin + skipped + dim) * strides.of[dim];
    }
  }
  return read_index(indices, offset, size, out);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const TensorList indices = args.tensors(kIndices);
  Tensor &out = args.tensor(kOut);
  const Places places = places_of(args);
  const uint32_t bytes = element_bytes(out.type());
  const Strides strides = input.strides();
  Cursor at(out);
  for (uint32_t i = 0; i < out.numel(); ++i, at.next()) {
    int32_t from = 0;
    uint32_t out_dim = 0;
    for (uint32_t dim = 0; dim < input.rank(); ++dim) {
      int32_t index = 0;
      if ((places.indexed >> dim & 1U) != 0) {
        RT_TRY(indexed(indices[dim], at, places, input.size(dim), index));
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
