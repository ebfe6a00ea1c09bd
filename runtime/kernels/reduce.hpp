// Reductions over dimensions, of any layout. The walk is compiled once; what a
// kernel adds is what it makes of the elements of one result.
#pragma once

#include <limits>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// The dimensions that a kernel reduces: a bit each.
struct Reduction {
  uint32_t dims;
  bool keep;  // as dimensions of size 1
};

// @return dimension `dim` of that rank, negative ones from the end; `rank` or
// more if there is none.
inline uint32_t wrap_dim(int32_t dim, uint32_t rank) {
  // A tensor without dimensions has one of size 1 to torch.
  return static_cast<uint32_t>(dim < 0 ? dim + static_cast<int32_t>(rank) : dim);
}

// Reads an argument that is None, a list of dimensions (empty: all of them), or
// one dimension.
// @return argument-value, naming `dims`.
Error read_reduction(Args &args, uint32_t input, uint32_t dims, bool keep, Reduction &out);
// The same without checks, for `run`.
Reduction get_reduction(const Args &args, uint32_t input, uint32_t dims, bool keep);

// @return argument-shape, naming `out`, if it is not what the reduction leaves
// of the input.
Error check_reduced_shape(Args &args, uint32_t input, const Reduction &reduction, uint32_t out);

// The elements of one result: bytes between them, along the reduced dimensions.
class Elements {
 public:
  Elements(const std::byte *data, const Walk<1> &walk) : data_(data), walk_(walk) {}
  // In the order of memory, or of the dimensions where `reduce` was told so.
  template <typename T, typename Visit>
  void each(Visit visit) const {
    walk_.rows([&](int32_t count, const int32_t(&offset)[1], const int32_t(&stride)[1]) {
      const std::byte *from = data_ + offset[0];
      for (int32_t i = 0; i < count; ++i, from += stride[0]) {
        visit(*reinterpret_cast<const T *>(from));
      }
    });
  }

 private:
  const std::byte *data_;
  const Walk<1> &walk_;
};

using ReduceFn = void (*)(const Elements &elements, uint32_t count, std::byte *out,
                          const void *parameters);

// Calls `function` for each result. `ordered`: elements come by index, not as
// they lie in memory.
void reduce(const Tensor &input, const Reduction &reduction, Tensor &out, bool ordered,
            ReduceFn function, const void *parameters);

// Kernels (input, dims or dim, keep, out) that have elements of the input's
// type as results.
template <typename Function>
void reduce_numbers(const Tensor &input, const Reduction &reduction, Tensor &out) {
  for_number_type(input.type(), [&]<typename T>(T) {
    reduce(
        input, reduction, out, false,
        [](const Elements &elements, uint32_t, std::byte *to, const void *) {
          *reinterpret_cast<T *>(to) = Function().template of<T>(elements);
        },
        nullptr);
  });
}

// The largest and the smallest; a NaN wins.
struct Largest {
  template <typename T>
  T of(const Elements &elements) const {
    using Limits = std::numeric_limits<T>;
    T result = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    elements.each<T>([&](T x) { result = x > result || x != x ? x : result; });
    return result;
  }
};
struct Smallest {
  template <typename T>
  T of(const Elements &elements) const {
    using Limits = std::numeric_limits<T>;
    T result = Limits::has_infinity ? Limits::infinity() : Limits::max();
    elements.each<T>([&](T x) { result = x < result || x != x ? x : result; });
    return result;
  }
};

// Kernels (input, dims, keep, out): amax, amin.
inline Error prepare_extreme(Args &args, Needs &) {
  RT_TRY(args.match("tlbo="));
  RT_TRY(expect_number(args, 0));
  RT_TRY(expect_type(args, {3}, args.tensor(0).type()));
  if (args.tensor(0).numel() == 0) return args.refuse(0, Error::kArgumentShape);
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(2), reduction));
  return check_reduced_shape(args, 0, reduction, 3);
}
template <typename Function>
Error run_extreme(const Args &args, std::span<std::byte>) {
  reduce_numbers<Function>(args.tensor(0), get_reduction(args, 0, 1, args.boolean(2)),
                           args.tensor(3));
  return Error::kOk;
}

// Kernels (input, out): the extreme of all elements.
inline Error prepare_extreme_of_all(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_number(args, 0));
  RT_TRY(expect_type(args, {1}, args.tensor(0).type()));
  if (args.tensor(0).numel() == 0) return args.refuse(0, Error::kArgumentShape);
  return args.tensor(1).numel() == 1 ? Error::kOk : args.refuse(1, Error::kArgumentShape);
}
template <typename Function>
Error run_extreme_of_all(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(0);
  reduce_numbers<Function>(input, {(1U << input.rank()) - 1, false}, args.tensor(1));
  return Error::kOk;
}

// Kernels (input, dim or None, keep, indices): argmax, argmin. The first of
// equals, a NaN first.
inline Error prepare_index_of(Args &args, Needs &) {
  RT_TRY(args.match("tjbo="));
  RT_TRY(expect_number(args, 0));
  RT_TRY(expect_type(args, {3}, ScalarType::kLong));
  if (args.tensor(0).numel() == 0) return args.refuse(0, Error::kArgumentShape);
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(2), reduction));
  return check_reduced_shape(args, 0, reduction, 3);
}
template <typename T, typename Better>
int64_t index_of_best(const Elements &elements, T *value) {
  int64_t best = 0;
  int64_t index = 0;
  T best_value = {};
  elements.each<T>([&](T x) {
    const bool nan = x != x;
    if (index == 0 || (best_value == best_value && (nan || Better()(x, best_value)))) {
      best = index;
      best_value = x;
    }
    ++index;
  });
  if (value != nullptr) *value = best_value;
  return best;
}
template <typename Better>
Error run_index_of(const Args &args, std::span<std::byte>) {
  const Reduction reduction = get_reduction(args, 0, 1, args.boolean(2));
  for_number_type(args.tensor(0).type(), [&]<typename T>(T) {
    reduce(
        args.tensor(0), reduction, args.tensor(3), true,
        [](const Elements &elements, uint32_t, std::byte *to, const void *) {
          *reinterpret_cast<int64_t *>(to) = index_of_best<T, Better>(elements, nullptr);
        },
        nullptr);
  });
  return Error::kOk;
}

// Kernels (input, dim, keep, values, indices, both): max.dim_max, min.dim_min.
inline Error prepare_best(Args &args, Needs &) {
  RT_TRY(args.match("tiboo_"));
  RT_TRY(expect_number(args, 0));
  RT_TRY(expect_type(args, {3}, args.tensor(0).type()));
  RT_TRY(expect_type(args, {4}, ScalarType::kLong));
  if (args.tensor(0).numel() == 0) return args.refuse(0, Error::kArgumentShape);
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(2), reduction));
  RT_TRY(check_reduced_shape(args, 0, reduction, 3));
  return check_reduced_shape(args, 0, reduction, 4);
}
template <typename Better>
Error run_best(const Args &args, std::span<std::byte>) {
  const Reduction reduction = get_reduction(args, 0, 1, args.boolean(2));
  for_number_type(args.tensor(0).type(), [&]<typename T>(T) {
    reduce(
        args.tensor(0), reduction, args.tensor(3), true,
        [](const Elements &elements, uint32_t, std::byte *to, const void *) {
          index_of_best<T, Better>(elements, reinterpret_cast<T *>(to));
        },
        nullptr);
    reduce(
        args.tensor(0), reduction, args.tensor(4), true,
        [](const Elements &elements, uint32_t, std::byte *to, const void *) {
          *reinterpret_cast<int64_t *>(to) = index_of_best<T, Better>(elements, nullptr);
        },
        nullptr);
  });
  return Error::kOk;
}

struct GreaterThan {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct LessThan {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

}  // namespace rt::kernels
