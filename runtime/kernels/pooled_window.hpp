// The walk over the windows of a pool for kernels that take many channels at once.
#pragma once

#include "runtime/kernels/int8_pool.hpp"

namespace rt::kernels {

// What lies inside the input of one window, and its output; both begin at channel 0.
struct PooledWindow {
  const int8_t* corner;
  int8_t* out;
  int32_t rows, columns;
  int32_t row_bytes;
};

template <typename Visit>
void pool_windows(const Tensor& input, Tensor& out, const Window& window, Visit visit) {
  const auto& [h, w] = window;
  const int32_t channels = input.size(1);
  const int32_t row_bytes = w.input * channels;
  const int8_t* image = input.as<int8_t>();
  int8_t* result = out.as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * row_bytes) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      for (int32_t x = 0; x < w.output; ++x, result += channels) {
        const Axis::Range xs = w.range(x);
        visit(PooledWindow{
            image + (ys.origin + ys.begin) * row_bytes + (xs.origin + xs.begin) * channels, result,
            ys.end - ys.begin, xs.end - xs.begin, row_bytes});
      }
    }
  }
}

}  // namespace rt::kernels
