// What the int8 transposed convolutions share: arguments and geometry. Activations are NHWC in
// memory, weights OHWI, one group.
#pragma once

#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/transposed.hpp"

namespace rt::kernels::transposed {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kOutputPadding,
  kDilation,
  kInputOffset,
  kOutputOffset,
  kMultipliers,
  kShifts,
  kActivationMin,
  kActivationMax,
  kScratch,
  kOutputScratch,
  kOut,
};

inline constexpr ConvolutionArguments kAt = {
    .input_offset = kInputOffset,
    .output_offset = kOutputOffset,
    .multipliers = kMultipliers,
    .shifts = kShifts,
    .activation_min = kActivationMin,
    .activation_max = kActivationMax,
    .out = kOut,
};

inline TransposedWindow window_of(const Args& args) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  TransposedWindow window = {};
  window.h.input = input.size(2);
  window.w.input = input.size(3);
  window.h.output = out.size(2);
  window.w.output = out.size(3);
  window.h.kernel = weight.size(1);
  window.w.kernel = weight.size(2);
  get_pair(args, kStride, window.h.stride, window.w.stride);
  get_pair(args, kPadding, window.h.padding, window.w.padding);
  get_pair(args, kDilation, window.h.dilation, window.w.dilation);
  return window;
}

}  // namespace rt::kernels::transposed
