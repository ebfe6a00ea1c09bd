// Geometry of convolutions and pools over two dimensions.
#pragma once

#include <cstdint>

#include "runtime/core/args.hpp"

namespace rt::kernels {

// Along one dimension.
struct Axis {
  int32_t input, output, kernel, stride, padding, dilation;

  // The kernel positions [begin, end) whose input index lies inside the input, for one output.
  struct Range {
    int32_t begin, end;
    int32_t origin;  // input index of kernel position 0, may be negative
  };
  Range range(int32_t out) const {
    const int32_t origin = out * stride - padding;
    const int32_t begin = origin >= 0 ? 0 : (-origin + dilation - 1) / dilation;
    const int32_t room = input - origin;  // > 0 positions left of the input's end
    const int32_t fitting = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    const int32_t end = fitting < kernel ? fitting : kernel;
    return {begin, end < begin ? begin : end, origin};
  }
};

struct Window {
  Axis h, w;
};

// Reads a list of one or two integers in [low, 32767] (so that products of two fit 32 bits).
inline Error read_pair(Args& args, uint32_t i, int32_t low, int32_t& h, int32_t& w) {
  const IntList list = args.list(i);
  if (list.count() != 1 && list.count() != 2) return args.refuse(i, Error::kArgumentValue);
  h = list[0];
  w = list[list.count() - 1];
  const bool fits = h >= low && w >= low && h <= 32767 && w <= 32767;
  return fits ? Error::kOk : args.refuse(i, Error::kArgumentValue);
}

// The same without its checks, for `run`.
inline void get_pair(const Args& args, uint32_t i, int32_t& h, int32_t& w) {
  const IntList list = args.list(i);
  h = list[0];
  w = list[list.count() - 1];
}

// torch's pooling_output_shape (aten/src/ATen/native/Pool.h); convolutions never round up. Of axes
// within the bounds of `fits`, so that 32 bits suffice.
// @return the output's size, negative or zero if the kernel does not fit.
inline int32_t output_size(const Axis& axis, bool round_up) {
  const int32_t span = axis.input + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  if (span < 0) return 0;
  int32_t size = (span + (round_up ? axis.stride - 1 : 0)) / axis.stride + 1;
  if (round_up && (size - 1) * axis.stride >= axis.input + axis.padding) --size;
  return size;
}

// Whether the axes' outputs are what they must be, and indices fit 32 bits. Strides, paddings and
// dilations are what read_pair accepts.
inline bool fits(const Window& window, bool round_up) {
  constexpr int32_t kMost = 0x3FFF'FFFF;
  for (const Axis& axis : {window.h, window.w}) {
    if (axis.input > kMost / 2 || axis.kernel > 32767 || axis.kernel < 0) return false;
    if (axis.output <= 0 || output_size(axis, round_up) != axis.output) return false;
    // What the output's size bounds: at most twice the input and a few strides.
    const int32_t reach = axis.output * axis.stride + axis.padding + axis.input;
    if (reach > kMost || axis.kernel * axis.dilation > kMost - reach) return false;
  }
  return true;
}

}  // namespace rt::kernels
