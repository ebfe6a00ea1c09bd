// What the int8 convolutions share: arguments, checks and geometry. Activations are NHWC in memory.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels {

// Argument indices; operators.yaml of ExecuTorch's cortex_m backend. The depthwise convolution has
// a depth multiplier between dilation and input offset, so all that follows moves by one.
struct ConvolutionArguments {
  static constexpr uint32_t kInput = 0, kWeight = 1, kBias = 2, kStride = 3, kPadding = 4,
                            kDilation = 5;
  uint32_t input_offset, output_offset, multipliers, shifts, activation_min, activation_max, out;
};

// Reads the geometry; `kernel_h` and `kernel_w` come from the weight's shape.
template <typename ArgsType>
Window convolution_window(const ArgsType& args, const Tensor& out, int32_t kernel_h,
                          int32_t kernel_w) {
  const Tensor& input = args.tensor(ConvolutionArguments::kInput);
  Window window = {};
  window.h.input = input.size(2);
  window.w.input = input.size(3);
  window.h.output = out.size(2);
  window.w.output = out.size(3);
  window.h.kernel = kernel_h;
  window.w.kernel = kernel_w;
  get_pair(args, ConvolutionArguments::kStride, window.h.stride, window.w.stride);
  get_pair(args, ConvolutionArguments::kPadding, window.h.padding, window.w.padding);
  get_pair(args, ConvolutionArguments::kDilation, window.h.dilation, window.w.dilation);
  return window;
}

// Checks all that does not depend on the weight's layout.
inline Error check_convolution(Args& args, const ConvolutionArguments& at, int32_t kernel_h,
                               int32_t kernel_w, int32_t out_channels, Needs& needs) {
  using A = ConvolutionArguments;
  RT_TRY(expect_type(args, {A::kInput, A::kWeight, at.out}, ScalarType::kChar));
  RT_TRY(expect_channels_last(args, {A::kInput, at.out}));
  RT_TRY(expect_contiguous(args, {A::kWeight}));
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& out = args.tensor(at.out);
  if (input.numel() == 0) return args.refuse(A::kInput, Error::kArgumentShape);
  if (args.tensor(A::kWeight).numel() == 0) return args.refuse(A::kWeight, Error::kArgumentShape);
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, A::kStride, 1, h, w));
  RT_TRY(read_pair(args, A::kPadding, 0, h, w));
  RT_TRY(read_pair(args, A::kDilation, 1, h, w));
  const bool shape_fits = out.size(0) == input.size(0) && out.size(1) == out_channels &&
                          fits(convolution_window(args, out, kernel_h, kernel_w), false);
  if (!shape_fits) return args.refuse(at.out, Error::kArgumentShape);
  RT_TRY(expect_bias(args, A::kBias, out_channels));
  RT_TRY(expect_offset(args, at.input_offset));
  RT_TRY(expect_zero_point(args, at.output_offset));
  needs.elements_read += static_cast<uint32_t>(out_channels);
  RT_TRY(expect_requantizations(args, at.multipliers, at.shifts, out_channels));
  return expect_activation(args, at.activation_min, at.activation_max);
}

// From accumulator to output, channel by channel.
class OutputStage {
 public:
  OutputStage(const Args& args, const ConvolutionArguments& at)
      : bias_(args.is_none(ConvolutionArguments::kBias)
                  ? nullptr
                  : args.tensor(ConvolutionArguments::kBias).as<int32_t>()),
        multipliers_(args.tensor(at.multipliers).as<int32_t>()),
        shifts_(args.tensor(at.shifts).as<int32_t>()),
        offset_(args.integer(at.output_offset)),
        min_(args.integer(at.activation_min)),
        max_(args.integer(at.activation_max)) {}

  int8_t operator()(uint32_t sum, int32_t channel) const {
    if (bias_ != nullptr) sum += static_cast<uint32_t>(bias_[channel]);
    const int32_t scaled =
        requantize(static_cast<int32_t>(sum), multipliers_[channel], shifts_[channel]);
    return static_cast<int8_t>(clamp(wrapping_add(scaled, offset_), min_, max_));
  }

 private:
  const int32_t* bias_;
  const int32_t* multipliers_;
  const int32_t* shifts_;
  int32_t offset_, min_, max_;
};

}  // namespace rt::kernels
