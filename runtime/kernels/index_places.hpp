// Where tensors of indices, one a dimension or None, stand among the dimensions of what they index.
#pragma once

#include "runtime/kernels/indices.hpp"

namespace rt::kernels {

// The broadcast dimensions of the indices stand in the place of the indexed dimensions if those are
// neighbours, else in front.
struct Places {
  uint32_t indexed;  // a bit each
  uint32_t begin;    // of the indices' dimensions in the result
  uint32_t rank;     // of the broadcast indices
};

inline Places places_of(const TensorList& indices) {
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

// @return the size of dimension `dim` of the broadcast indices; -1 if they do not fit together.
inline int32_t broadcast_size(const TensorList& indices, const Places& places, uint32_t dim) {
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

// At least one tensor of indices, not more than there are dimensions.
inline Error expect_index_list(Args& args, const Tensor& input, uint32_t argument) {
  const TensorList indices = args.tensors(argument);
  if (indices.count() > input.rank()) return args.refuse(argument, Error::kArgumentShape);
  bool any = false;
  for (uint32_t i = 0; i < indices.count(); ++i) {
    if (indices.is_none(i)) continue;
    any = true;
    RT_TRY(expect_indices(args, indices[i], argument));
  }
  return any ? Error::kOk : args.refuse(argument, Error::kArgumentValue);
}

// Reads the index that a dimension has for the result at `at`, one number a dimension of the
// result.
// @return index-out-of-range.
inline Error read_place(const Tensor& indices, const int32_t (&at)[kMaxRank], const Places& places,
                        int32_t size, int32_t& out) {
  const Strides strides = indices.strides();
  const uint32_t skipped = places.rank - indices.rank();
  int32_t offset = 0;
  for (uint32_t dim = 0; dim < indices.rank(); ++dim) {
    if (indices.size(dim) != 1) offset += at[places.begin + skipped + dim] * strides.of[dim];
  }
  return read_index(indices, offset, size, out);
}

}  // namespace rt::kernels
