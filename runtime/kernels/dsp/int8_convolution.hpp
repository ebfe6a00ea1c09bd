// The int8 convolution on Armv7E-M: patches of five pixels are widened, then met by every filter.
#pragma once

#include "runtime/kernels/dsp/dot.hpp"
#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/pixels.hpp"

namespace rt::kernels::dsp {

// A group of filters, each of window.h.kernel * window.w.kernel * depth weights.
struct Filters {
  const int8_t* weights;
  int32_t depth;    // input channels that each covers
  int32_t first;    // the first of them
  int32_t outputs;  // how many filters
  int32_t size(const Window& window) const { return window.h.kernel * window.w.kernel * depth; }
};

// Scratch of `convolve`, in the order in which it lies.
struct ConvolutionScratch {
  int32_t activations_bytes;
  int32_t line_bytes;
  int32_t out_bytes;  // for outputs of fewer than five pixels

  ConvolutionScratch(const Window& window, const Filters& filters, int32_t pixels)
      : activations_bytes(kRows * 2 * round_up_to_quad(filters.size(window))),
        line_bytes((filters.depth & 3) == 0 ? 0 : round_up_to_quad(filters.size(window))),
        out_bytes(pixels < kRows ? kRows * filters.outputs : 0) {}
  uint32_t bytes() const {
    return static_cast<uint32_t>(activations_bytes + line_bytes + out_bytes);
  }
};

// Whether each output channel's shift and bias allow the fast requantization.
bool scales_fit(const Args& args, const ConvolutionArguments& at, int32_t terms);

// @return bias, scales and rounding of all output channels; the rest is left to fill in.
Dot5 scales_of(const Args& args, const ConvolutionArguments& at);

// Convolves with one group of filters. Of `dot` bias, scales and `out` are the group's, `out` at
// the first pixel; `pixel_bytes` is the distance from pixel to pixel.
void convolve(const Tensor& input, int32_t input_offset, const Window& window,
              const Filters& filters, Dot5 dot, int32_t pixel_bytes, std::byte* scratch);

}  // namespace rt::kernels::dsp
