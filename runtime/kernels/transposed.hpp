// Geometry of transposed convolutions: each output gathers the inputs that reach it.
#pragma once

#include <cstdint>

#include "runtime/kernels/window.hpp"

namespace rt::kernels {

// Along one dimension; the fields of an Axis, with `output` the larger side.
struct TransposedAxis {
  int32_t input, output, kernel, stride, padding, dilation;

  // @return the input index that kernel position `k` takes to this output, -1 if there is none.
  int32_t source(int32_t out, int32_t k) const {
    const int32_t spread = out + padding - k * dilation;
    if (spread < 0 || spread % stride != 0) return -1;
    const int32_t in = spread / stride;
    return in < input ? in : -1;
  }
};

struct TransposedWindow {
  TransposedAxis h, w;
};

// Whether the outputs are what torch makes of the axes, and indices fit 32 bits.
inline bool fits(const TransposedWindow& window, int32_t extra_h, int32_t extra_w) {
  for (const bool high : {true, false}) {
    const TransposedAxis& axis = high ? window.h : window.w;
    const int64_t size = int64_t{axis.input - 1} * axis.stride - 2 * int64_t{axis.padding} +
                         int64_t{axis.dilation} * (axis.kernel - 1) + (high ? extra_h : extra_w) +
                         1;
    if (size <= 0 || size != axis.output) return false;
    const int64_t reach = int64_t{axis.input} * axis.stride + int64_t{axis.kernel} * axis.dilation +
                          axis.padding + axis.output;
    if (reach > 0x3FFF'FFFF) return false;
  }
  return true;
}

}  // namespace rt::kernels
