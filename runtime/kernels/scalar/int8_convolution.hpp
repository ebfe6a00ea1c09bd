// The int8 convolution without the DSP extension: patches of five pixels are widened to words, then
// met by every filter.
#pragma once

#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/scalar/dot.hpp"

namespace rt::kernels::scalar {

// A group of filters, each of window.h.kernel * window.w.kernel * depth weights.
struct Filters {
  const int8_t* weights;
  int32_t depth;    // input channels that each covers
  int32_t first;    // the first of them
  int32_t outputs;  // how many filters
  int32_t size(const Window& window) const { return window.h.kernel * window.w.kernel * depth; }
};

// Bias, scales and bounds of a group.
struct Stage {
  const int32_t* bias;  // nullptr for none
  const int32_t* multipliers;
  const int32_t* shifts;
  int32_t offset, low, high;

  Stage(const Args& args, const ConvolutionArguments& at);
  void advance(int32_t outputs);  // to the next group
};

// Whether every shift is to the right.
bool scales_fit(const Args& args, const ConvolutionArguments& at);

// Scratch of `convolve`: a word of each of five patches.
inline uint32_t convolution_bytes(int32_t terms) {
  return static_cast<uint32_t>(terms * kRows) * sizeof(int32_t);
}

// Convolves with one group of filters; `out` is the group's first channel of the first pixel,
// `pixel_bytes` the distance from pixel to pixel.
void convolve(const Tensor& input, int32_t input_offset, const Window& window,
              const Filters& filters, const Stage& stage, int8_t* out, int32_t pixel_bytes,
              std::byte* scratch);

}  // namespace rt::kernels::scalar
