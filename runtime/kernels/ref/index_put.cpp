// aten::index_put: self with elements replaced, or added to, by tensors of indices, one a dimension
// (None: all of it); index_put_ writes self itself. Any type, sums of float32, int32, int64.

#include <cstring>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/index_places.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kIndices, kValues, kAccumulate, kOut };

// The shape of self[indices], which the values are broadcast to.
struct Shape {
  uint32_t rank = 0;
  int32_t sizes[kMaxRank] = {};
};

// @return false if the indices do not fit together, or there are too many dimensions.
bool indexed_shape(const Tensor& input, const TensorList& indices, const Places& places,
                   Shape& shape) {
  uint32_t plain = 0;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) plain += (places.indexed >> dim & 1U) == 0;
  shape.rank = plain + places.rank;
  if (shape.rank > kMaxRank) return false;
  uint32_t from = 0;
  for (uint32_t dim = 0; dim < shape.rank; ++dim) {
    if (dim >= places.begin && dim - places.begin < places.rank) {
      shape.sizes[dim] = broadcast_size(indices, places, dim - places.begin);
      if (shape.sizes[dim] < 0) return false;
    } else {
      while ((places.indexed >> from & 1U) != 0) ++from;
      shape.sizes[dim] = input.size(from++);
    }
  }
  return true;
}

bool broadcasts(const Tensor& values, const Shape& shape) {
  if (values.rank() > shape.rank) return false;
  const uint32_t skipped = shape.rank - values.rank();
  for (uint32_t dim = 0; dim < values.rank(); ++dim) {
    if (values.size(dim) != 1 && values.size(dim) != shape.sizes[dim + skipped]) return false;
  }
  return true;
}

Error check(Args& args, uint32_t out) {
  const Tensor& input = args.tensor(kInput);
  RT_TRY(expect_type(args, {kValues, out}, input.type()));
  if (args.boolean(kAccumulate)) RT_TRY(expect_number(args, kInput));
  RT_TRY(expect_index_list(args, input, kIndices));
  const TensorList indices = args.tensors(kIndices);
  Shape shape;
  if (!indexed_shape(input, indices, places_of(indices), shape)) {
    return args.refuse(kIndices, Error::kArgumentShape);
  }
  if (!broadcasts(args.tensor(kValues), shape)) return args.refuse(kValues, Error::kArgumentShape);
  return same_shape(input, args.tensor(out)) ? Error::kOk : args.refuse(out, Error::kArgumentShape);
}

void put(Tensor& out, int32_t to, const Tensor& values, int32_t from, bool accumulate) {
  if (!accumulate) {
    const uint32_t bytes = element_bytes(out.type());
    std::memcpy(out.data() + static_cast<uint32_t>(to) * bytes,
                values.data() + static_cast<uint32_t>(from) * bytes, bytes);
    return;
  }
  for_number_type(out.type(), [&]<typename T>(T) {
    out.as<T>()[to] = wrapped_sum(out.as<T>()[to], values.as<T>()[from]);
  });
}

// Steps an index of the shape. @return false after the last one.
bool advance(const Shape& shape, int32_t (&index)[kMaxRank]) {
  for (uint32_t dim = shape.rank; dim-- > 0;) {
    if (++index[dim] < shape.sizes[dim]) return true;
    index[dim] = 0;
  }
  return false;
}

Error write(const Args& args, Tensor& out) {
  const TensorList indices = args.tensors(kIndices);
  const Tensor& values = args.tensor(kValues);
  const Places places = places_of(indices);
  Shape shape;
  indexed_shape(out, indices, places, shape);
  for (uint32_t dim = 0; dim < shape.rank; ++dim) {
    if (shape.sizes[dim] == 0) return Error::kOk;
  }
  const Strides to_strides = out.strides();
  const Strides from_strides = values.strides();
  int32_t index[kMaxRank] = {};
  do {
    int32_t to = 0;
    uint32_t at = 0;
    for (uint32_t dim = 0; dim < out.rank(); ++dim) {
      int32_t place = 0;
      if ((places.indexed >> dim & 1U) != 0) {
        RT_TRY(read_place(indices[dim], index, places, out.size(dim), place));
      } else {
        if (at == places.begin) at += places.rank;
        place = index[at++];
      }
      to += place * to_strides.of[dim];
    }
    int32_t from = 0;
    for (uint32_t dim = 0; dim < shape.rank; ++dim) {
      from += index[dim] * broadcast_stride(values, from_strides, dim, shape.rank);
    }
    put(out, to, values, from, args.boolean(kAccumulate));
  } while (advance(shape, index));
  return Error::kOk;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tNtbo="));
  return check(args, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  copy_layout(args.tensor(kInput), args.tensor(kOut));
  return write(args, args.tensor(kOut));
}

Error prepare_in_place(Args& args, Needs&) {
  RT_TRY(args.match("oNtb_"));
  return check(args, kInput);
}

Error run_in_place(const Args& args, std::span<std::byte>) {
  return write(args, args.tensor(kInput));
}

}  // namespace

RT_KERNEL("aten::index_put.out", prepare, run);
RT_KERNEL("aten::index_put_", prepare_in_place, run_in_place);

}  // namespace rt::kernels
