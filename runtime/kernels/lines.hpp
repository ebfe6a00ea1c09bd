// Lines of a tensor along one dimension, for kernels that work on one line at a
// time.
#pragma once

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// Calls line(in, in_step, out, out_step) for each line of two tensors of one
// shape and of type T.
template <typename T, typename Line>
void for_each_line(const Tensor &input, Tensor &out, uint32_t along, Line line) {
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  const bool flat = input.rank() == 0;
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    if (dim != along) walk.add(out.size(dim), {in_strides.of[dim], out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    for (int32_t i = 0; i < count; ++i) {
      line(input.as<T>() + offset[0] + i * stride[0], flat ? 1 : in_strides.of[along],
           out.as<T>() + offset[1] + i * stride[1], flat ? 1 : out_strides.of[along]);
    }
  });
}

// @return elements of a line.
inline int32_t line_length(const Tensor &input, uint32_t along) {
  return input.rank() == 0 ? 1 : input.size(along);
}

// A dimension of the input, which may have none.
inline Error expect_dim(Args &args, uint32_t input, uint32_t dim) {
  const uint32_t rank = args.tensor(input).rank();
  return wrap_dim(args.integer(dim), rank == 0 ? 1 : rank) < (rank == 0 ? 1 : rank)
             ? Error::kOk
             : args.refuse(dim, Error::kArgumentValue);
}
inline uint32_t get_dim(const Args &args, uint32_t input, uint32_t dim) {
  const uint32_t rank = args.tensor(input).rank();
  return wrap_dim(args.integer(dim), rank == 0 ? 1 : rank);
}

// Kernels (input, dim, half to float, out): softmax and its logarithm.
inline Error prepare_softmax(Args &args, Needs &) {
  RT_TRY(args.match("tibo="));
  if (args.boolean(2)) return args.refuse(2, Error::kArgumentValue);
  RT_TRY(expect_type(args, {0, 3}, ScalarType::kFloat));
  RT_TRY(expect_dim(args, 0, 1));
  return expect_same_shape(args, 0, 3);
}

// Writes e^(x - largest) where `out` is given. @return their sum.
inline float exponentials(const float *in, int32_t in_step, float *out, int32_t out_step,
                          int32_t count, float &largest, float (*exponential)(float)) {
  largest = in[0];
  for (int32_t i = 1; i < count; ++i) {
    if (in[i * in_step] > largest) largest = in[i * in_step];
  }
  float sum = 0.0F;
  for (int32_t i = 0; i < count; ++i) {
    const float power = exponential(in[i * in_step] - largest);
    if (out != nullptr) out[i * out_step] = power;
    sum += power;
  }
  return sum;
}

}  // namespace rt::kernels
