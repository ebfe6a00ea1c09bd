// Patches of the input under a convolution's filters, five pixels at a time.
#pragma once

#include <cstring>

#include "runtime/kernels/dsp/int8_convolution.hpp"
#include "runtime/kernels/pixels.hpp"

namespace rt::kernels::dsp {

// Widens the inputs under the filters, patch by patch.
template <typename Quads>
class Patches {
 public:
  // `line` has room for a patch if the depth is no multiple of 4, else it is not used.
  Patches(const Tensor& input, const Window& window, const Filters& filters, const Quads& quads,
          int32_t offset, int8_t* line)
      : window_(window),
        channels_(input.size(1)),
        row_bytes_(window.w.input * input.size(1)),
        depth_(filters.depth),
        first_(filters.first),
        quads_(quads),
        padding_(static_cast<int8_t>(-offset)),
        line_(line),
        runs_(window.w.dilation == 1 && filters.depth == input.size(1)) {}

  // Widens the patch of `pixel` to every fifth word from `to` on.
  void widen(int32_t* to, const Pixel& pixel) const {
    const auto& [h, w] = window_;
    const int8_t* image = pixel.image + first_;
    const int32_t x = pixel.x * w.stride - w.padding;
    const int32_t y = pixel.y * h.stride - h.padding;
    if (h.kernel == 1 && w.kernel == 1 && h.padding == 0 && w.padding == 0) {
      widen_row<kRows>(to, image + y * row_bytes_ + x * channels_, depth_, quads_);
    } else if ((depth_ & 3) == 0) {
      widen_quads(to, image, x, y);
    } else {
      int8_t* end = copy_bytes(image, x, y);
      // The line is longer by what is missing in its last quad.
      dsp::widen<kRows>(to, line_, static_cast<int32_t>(end - line_ + 3) >> 2, quads_);
    }
  }

 private:
  void widen_quads(int32_t* to, const int8_t* image, int32_t x, int32_t y) const {
    const auto& [h, w] = window_;
    const int32_t quads = depth_ >> 2;
    for (int32_t ky = 0; ky < h.kernel; ++ky, y += h.dilation) {
      if (y < 0 || y >= h.input) {
        to = zero<kRows>(to, w.kernel * quads, quads_);
        continue;
      }
      const int8_t* from = image + y * row_bytes_ + x * channels_;
      if (runs_) {
        // The padding may be wider than the kernel.
        const int32_t before = x < -w.kernel ? w.kernel : (x < 0 ? -x : 0);
        const int32_t inside = w.input - x < w.kernel ? w.input - x : w.kernel;
        const int32_t taps = inside > before ? inside - before : 0;
        to = zero<kRows>(to, before * quads, quads_);
        to = dsp::widen<kRows>(to, from + before * channels_, taps * quads, quads_);
        to = zero<kRows>(to, (w.kernel - before - taps) * quads, quads_);
        continue;
      }
      int32_t at = x;
      for (int32_t kx = 0; kx < w.kernel; ++kx, at += w.dilation, from += w.dilation * channels_) {
        to = at < 0 || at >= w.input ? zero<kRows>(to, quads, quads_)
                                     : dsp::widen<kRows>(to, from, quads, quads_);
      }
    }
  }

  // @return the end of the patch in the line.
  int8_t* copy_bytes(const int8_t* image, int32_t x, int32_t y) const {
    const auto& [h, w] = window_;
    int8_t* to = line_;
    for (int32_t ky = 0; ky < h.kernel; ++ky, y += h.dilation) {
      if (y < 0 || y >= h.input) {
        to = fill(to, w.kernel * depth_);
        continue;
      }
      const int8_t* from = image + y * row_bytes_ + x * channels_;
      if (runs_ && x >= 0 && x + w.kernel <= w.input) {
        to = copy(to, from, w.kernel * depth_);
        continue;
      }
      int32_t at = x;
      for (int32_t kx = 0; kx < w.kernel; ++kx, at += w.dilation, from += w.dilation * channels_) {
        to = at < 0 || at >= w.input ? fill(to, depth_) : copy(to, from, depth_);
      }
    }
    return to;
  }

  int8_t* fill(int8_t* to, int32_t count) const {
    for (; count > 0; --count) *to++ = padding_;
    return to;
  }

  // The last word overlaps the one before it.
  static int8_t* copy(int8_t* to, const int8_t* from, int32_t count) {
    if (count < 4) {
      for (; count > 0; --count) *to++ = *from++;
      return to;
    }
    const int32_t last = count - 4;
    for (int32_t i = 0; i < last; i += 4) store_word(to + i, load_word(from + i));
    store_word(to + last, load_word(from + last));
    return to + count;
  }

  const Window& window_;
  int32_t channels_;
  int32_t row_bytes_;
  int32_t depth_;
  int32_t first_;
  Quads quads_;
  int8_t padding_;
  int8_t* line_;
  bool runs_;
};

// Widens the patches of five pixels after another, and has `multiply(out, out_stride)` meet them
// with every filter; `out` and `pixel_bytes` as in `convolve`.
template <typename Quads, typename Multiply>
void for_each_five(const Tensor& input, const Window& window, const Filters& filters,
                   const Patches<Quads>& patches, int32_t* activations, int8_t* few, int8_t* out,
                   int32_t pixel_bytes, Multiply multiply) {
  const int32_t pixels = pixels_of(input, window);
  Pixel pixel = {0, 0, input.as<int8_t>()};
  if (pixels < kRows) {
    for (int32_t row = 0; row < pixels; ++row, advance(pixel, input, window)) {
      patches.widen(activations + row, pixel);
    }
    multiply(few, filters.outputs);
    for (int32_t row = 0; row < pixels; ++row) {
      std::memcpy(out + row * pixel_bytes, few + row * filters.outputs,
                  static_cast<uint32_t>(filters.outputs));
    }
    return;
  }
  for (int32_t done = 0; done < pixels; done += kRows) {
    if (done + kRows > pixels) {  // the last five are done again as far as they were done
      done = pixels - kRows;
      pixel = locate(done, input, window);
    }
    for (int32_t row = 0; row < kRows; ++row, advance(pixel, input, window)) {
      patches.widen(activations + row, pixel);
    }
    multiply(out + done * pixel_bytes, pixel_bytes);
  }
}

}  // namespace rt::kernels::dsp
