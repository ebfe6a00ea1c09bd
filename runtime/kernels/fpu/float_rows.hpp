// Elementwise float kernels over arrays, for an FPU (fpu/float_rows.S) and for Helium
// (mve/float_rows.S). `out` may be an operand. Products are rounded before they are added.
#pragma once

#include <cstdint>

#include "runtime/core/tensor.hpp"

namespace rt::kernels::fpu {

// y = x * scale[c] + shift[c] for `pixels` times `channels` numbers.
struct Scaling {
  const float* scale;
  const float* shift;
  uint32_t channels;  // at least 1
  uint32_t pixels;    // at least 1
};

// Counts are at least 1.
extern "C" {
// out = x < 0 ? 0 : x
void rt_float_relu(const float* x, float* out, uint32_t count);
// out = x < low ? low : x, then out > high ? high : out
void rt_float_clamp(const float* x, float* out, uint32_t count, const float* low_high);
// out = a + alpha * b
void rt_float_sum(const float* a, const float* b, float* out, uint32_t count, const float* alpha);
// out = a * b
void rt_float_product(const float* a, const float* b, float* out, uint32_t count);
// out = x + *addend, out = x * *factor
void rt_float_sum_one(const float* x, float* out, uint32_t count, const float* addend);
void rt_float_product_one(const float* x, float* out, uint32_t count, const float* factor);
void rt_float_scale(const float* x, float* out, const Scaling* scaling);
}

// The same of tensors of any layout, operands broadcast: out = a + alpha * b, out = a * b.
void sum(const Tensor& a, const Tensor& b, Tensor& out, float alpha);
void product(const Tensor& a, const Tensor& b, Tensor& out);

}  // namespace rt::kernels::fpu
