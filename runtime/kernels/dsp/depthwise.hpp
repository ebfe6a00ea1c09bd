// The int8 depthwise convolution on Armv7E-M, four channels at a time.
//
// Outputs are made along the longer axis, "the line"; the taps across it are widened once into a
// strip (a row of pairs an input line) and used by every output whose window they are in.
#pragma once

#include "runtime/kernels/dsp/dot.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels::dsp {

inline constexpr int32_t kQuad = 4;  // channels
// Of either axis: the bytes of a strip of any input that fits memory then fit 32 bits.
inline constexpr int32_t kMaxKernel = 32;

// One of the two axes, with the distances in bytes from index to index.
struct StridedAxis {
  Axis axis;
  int32_t input_bytes, output_bytes, weight_bytes;
};

struct Depthwise {
  StridedAxis line, cross;
  int32_t channels;
  int32_t input_offset;
  int32_t rounding;
  const int8_t* weights;
  const int32_t* bias;  // nullptr for none
  const int32_t* multipliers;
  const int32_t* shifts;

  // Words of the strip for one input line: pairs of taps for four channels, an odd tap in two.
  int32_t strip_words() const { return cross.axis.kernel / 2 * 4 + (cross.axis.kernel & 1) * 2; }
  int32_t strip_lines() const {
    return (line.axis.output - 1) * line.axis.stride + (line.axis.kernel - 1) * line.axis.dilation +
           1;
  }
  // Sums' starts, weights, scales.
  int32_t block_words() const { return 4 + line.axis.kernel * strip_words() + 8; }
  uint32_t scratch_bytes() const {
    return static_cast<uint32_t>(strip_lines() * strip_words() + block_words()) * 4;
  }
};

// How rt_dsp_depthwise3 goes from output to output.
struct DepthwiseLine {
  int32_t strip_advance;  // bytes from the end of a window to the start of the next
  int32_t out_bytes;
  const int8_t* out_end;
  int32_t rounding;
};

extern "C" {
// `block`: four doubled biases; three rows of doubled weights, laid out as the strip; for each
// channel multiplier and ~shift.
void rt_dsp_depthwise3(const int32_t* strip, const int32_t* block, int8_t* out,
                       const DepthwiseLine* line);
}

// Convolves one image of at least four channels.
void convolve_depthwise(const Depthwise& depthwise, const int8_t* image, int8_t* out,
                        std::byte* scratch);

}  // namespace rt::kernels::dsp
