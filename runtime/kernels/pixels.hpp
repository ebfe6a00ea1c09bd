// The pixels of a convolution's output, in the order in which they lie in memory.
#pragma once

#include "runtime/core/tensor.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels {

struct Pixel {
  int32_t x, y;
  const int8_t* image;  // the input's
};

inline int32_t pixels_of(const Tensor& input, const Window& window) {
  return input.size(0) * window.h.output * window.w.output;
}

// The pixel of an index into the output.
inline Pixel locate(int32_t index, const Tensor& input, const Window& window) {
  const int32_t row = index / window.w.output;
  const int32_t image_bytes = window.h.input * window.w.input * input.size(1);
  return {index % window.w.output, row % window.h.output,
          input.as<int8_t>() + row / window.h.output * image_bytes};
}

inline void advance(Pixel& pixel, const Tensor& input, const Window& window) {
  if (++pixel.x < window.w.output) return;
  pixel.x = 0;
  if (++pixel.y < window.h.output) return;
  pixel.y = 0;
  pixel.image += window.h.input * window.w.input * input.size(1);
}

}  // namespace rt::kernels
