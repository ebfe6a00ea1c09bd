// Elementwise float kernels of one operand.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// Input and output are float32 of one shape; layouts may differ.
inline Error check_float_unary(Args& args, uint32_t input, uint32_t out) {
  RT_TRY(expect_type(args, {input, out}, ScalarType::kFloat));
  return same_shape(args.tensor(input), args.tensor(out)) ? Error::kOk
                                                          : args.refuse(out, Error::kArgumentShape);
}

template <typename Function>
void float_unary(const Tensor& input, Tensor& out, Function function) {
  const Strides input_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {input_strides.of[dim], out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    const float* x = input.as<float>() + offset[0];
    float* y = out.as<float>() + offset[1];
    for (int32_t i = 0; i < count; ++i, x += stride[0], y += stride[1]) *y = function(*x);
  });
}

// NaN stays NaN; with low > high the result is high, as torch's.
inline float clamp_float(float value, float low, float high) {
  const float raised = value < low ? low : value;
  return raised > high ? high : raised;
}

}  // namespace rt::kernels
