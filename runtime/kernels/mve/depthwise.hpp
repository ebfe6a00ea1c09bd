// The int8 depthwise convolution with Helium, eight channels at a time.
//
// Outputs are made along the longer axis, "the line". For each channel a strip holds the taps
// across it line after line, so that a window is one run of bytes, and a dot product one
// instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/mve/dot.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels::mve {

inline constexpr int32_t kStripChannels = 8;
inline constexpr int32_t kVectorBytes = 16;
inline constexpr int32_t kMaxTaps = 2 * kVectorBytes;  // of a window

// One of the two axes, with the distances in bytes from index to index.
struct StridedAxis {
  Axis axis;
  int32_t input_bytes, output_bytes, weight_bytes;
};

struct Depthwise {
  StridedAxis line, cross;
  int32_t channels;
  int32_t input_offset, output_offset;
  bool away;  // as in DepthwiseLine
  const int8_t* weights;
  const int32_t* bias;  // nullptr for none
  const int32_t* multipliers;
  const int32_t* shifts;

  // Windows overlap in the strip, but not with dilation along the line.
  int32_t lines_advance() const {
    const Axis& axis = line.axis;
    return axis.dilation == 1 && axis.stride < axis.kernel ? axis.stride : axis.kernel;
  }
  int32_t lines() const { return (line.axis.output - 1) * lines_advance() + line.axis.kernel; }
  int32_t taps() const { return line.axis.kernel * cross.axis.kernel; }
  // Bytes of a window as it is read, in whole vectors: what lies behind its taps meets zeros.
  int32_t window_bytes() const { return taps() <= kVectorBytes ? kVectorBytes : kMaxTaps; }
  // Bytes of one channel's strip.
  int32_t strip_bytes() const { return lines() * cross.axis.kernel + window_bytes(); }
  bool suits() const {
    constexpr int32_t kLargestOffset = 65535;  // of a scatter
    return channels >= kChannels && taps() <= kMaxTaps &&
           strip_bytes() <= kLargestOffset / kStripChannels;
  }
  uint32_t scratch_bytes() const {
    return static_cast<uint32_t>(kStripChannels * (window_bytes() + 4 + strip_bytes()));
  }
};

// Four channels of a line of outputs.
struct DepthwiseLine {
  int32_t outputs;
  int32_t out_bytes;    // from output to output
  int32_t patch_bytes;  // from window to window
  int32_t away;         // whether negative ties must be rounded away from zero
  int32_t offset;
  const int8_t* patches;
  const int8_t* weights;  // window_bytes a channel, zeros behind the taps
  const int32_t* multipliers;
  const int32_t* shifts;
  int32_t strip_bytes;
  const int32_t* bias;  // folded
};

// Three taps of eight channels, spread over as many strips.
struct Scatter3 {
  int8_t* to;  // a line of a strip is three bytes
  int32_t lines;
  const int8_t* from[3];
  int32_t from_bytes[3];  // from line to line
  int32_t strip_bytes;
};

extern "C" {
// For windows of 16 bytes, and of 32.
void rt_mve_depthwise(const DepthwiseLine* line, int8_t* out);
void rt_mve_depthwise32(const DepthwiseLine* line, int8_t* out);
void rt_mve_scatter3(const Scatter3* scatter);
// One tap of up to eight channels.
void rt_mve_scatter(int8_t* to, int32_t to_bytes, const int8_t* from, int32_t from_bytes,
                    int32_t lines, int32_t strip_bytes, int32_t channels);
}

// Convolves one image; outputs saturate, they are not clamped further.
void convolve_depthwise(const Depthwise& depthwise, const int8_t* image, int8_t* out,
                        std::byte* scratch);

}  // namespace rt::kernels::mve
