// aten::topk: the k largest or smallest of a dimension, best first, with their indices; of equals
// the first comes first, a NaN counts as the largest. Known types but bool.
//
// k passes over a line, each for the next element in order: no scratch, and k is small where people
// use it.

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kCount, kDim, kLargest, kSorted, kValues, kIndices };

Error prepare(Args& args, Needs&) {
  // The last argument lists the outputs.
  RT_TRY(args.match("tiibboo_"));
  const Tensor& input = args.tensor(kInput);
  RT_TRY(expect_known(args, kInput));
  if (input.type() == ScalarType::kBool) return args.refuse(kInput, Error::kArgumentScalarType);
  RT_TRY(expect_type(args, {kValues}, input.type()));
  RT_TRY(expect_type(args, {kIndices}, ScalarType::kLong));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  const int32_t count = args.integer(kCount);
  if (count < 0 || count > input.size(along)) return args.refuse(kCount, Error::kArgumentValue);
  for (const uint32_t i : {kValues, kIndices}) {
    const Tensor& out = args.tensor(i);
    if (!same_but_for(input, out, along) || out.size(along) != count) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

template <typename T>
bool precedes(T a, T b, bool largest) {
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan || b_nan) return largest ? a_nan && !b_nan : b_nan && !a_nan;
  return largest ? a > b : a < b;
}

// @return the index that follows `last` (-1: the first one) in the order of values, then of
// indices.
template <typename T>
int32_t next_best(const T* line, int32_t step, int32_t size, int32_t last, bool largest) {
  int32_t best = -1;
  for (int32_t i = 0; i < size; ++i) {
    const T value = line[i * step];
    if (last >= 0) {
      const T before = line[last * step];
      const bool equal = !precedes(before, value, largest) && !precedes(value, before, largest);
      if (!precedes(before, value, largest) && !(equal && i > last)) continue;
    }
    if (best < 0 || precedes(value, line[best * step], largest)) best = i;
  }
  return best;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& values = args.tensor(kValues);
  Tensor& indices = args.tensor(kIndices);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const Strides from = input.strides();
  const Strides to = values.strides();
  const Strides to_indices = indices.strides();
  Walk<3> walk;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    if (dim != along) walk.add(input.size(dim), {from.of[dim], to.of[dim], to_indices.of[dim]});
  }
  for_type(input.type(), [&]<typename T>(T) {
    walk.rows([&](int32_t count, const int32_t(&offset)[3], const int32_t(&stride)[3]) {
      for (int32_t i = 0; i < count; ++i) {
        const T* line = input.as<T>() + offset[0] + i * stride[0];
        T* value = values.as<T>() + offset[1] + i * stride[1];
        int64_t* index = indices.as<int64_t>() + offset[2] + i * stride[2];
        int32_t last = -1;
        for (int32_t k = 0; k < args.integer(kCount); ++k) {
          const int32_t next =
              next_best(line, from.of[along], input.size(along), last, args.boolean(kLargest));
          if (next >= 0) last = next;  // else an output lies in the input, which has changed
          value[k * to.of[along]] = line[last * from.of[along]];
          index[k * to_indices.of[along]] = last;
        }
      }
    });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::topk.values", prepare, run);

}  // namespace rt::kernels
