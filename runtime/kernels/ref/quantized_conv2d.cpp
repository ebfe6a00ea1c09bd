// cortex_m::quantized_conv2d: weights OHWI, groups by the ratio of the channel counts.

#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

using A = ConvolutionArguments;
constexpr A kAt = {.input_offset = 6,
                   .output_offset = 7,
                   .multipliers = 8,
                   .shifts = 9,
                   .activation_min = 10,
                   .activation_max = 11,
                   .out = 13};

Error prepare(Args& args, Needs& needs) {
  // The planned scratch (12) is CMSIS-NN's; this kernel needs none.
  RT_TRY(args.match("ttnllliittiito="));
  RT_TRY(expect_rank(args, A::kInput, 4));
  RT_TRY(expect_rank(args, A::kWeight, 4));
  RT_TRY(expect_rank(args, kAt.out, 4));
  const Tensor& weight = args.tensor(A::kWeight);
  RT_TRY(check_convolution(args, kAt, weight.size(1), weight.size(2), weight.size(0), needs));
  const int32_t channels = args.tensor(A::kInput).size(1);
  const int32_t groups = channels / weight.size(3);
  const bool divides =
      groups > 0 && channels == groups * weight.size(3) && weight.size(0) % groups == 0;
  return divides ? Error::kOk : args.refuse(A::kWeight, Error::kArgumentShape);
}

// @return sum of (in + offset) * weight; unsigned, because the sum of a corrupt program may wrap.
uint32_t dot(const int8_t* in, const int8_t* weight, int32_t count, int32_t offset) {
  uint32_t sum = 0;
  for (const int8_t* const end = in + count; in != end; ++in, ++weight) {
    sum += static_cast<uint32_t>((*in + offset) * *weight);
  }
  return sum;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& weight = args.tensor(A::kWeight);
  Tensor& out = args.tensor(kAt.out);
  const int32_t offset = args.integer(kAt.input_offset);
  const OutputStage stage(args, kAt);
  const Window window = convolution_window(args, out, weight.size(1), weight.size(2));
  const auto& [h, w] = window;
  const int32_t in_channels = input.size(1);
  const int32_t depth = weight.size(3);
  const int32_t out_channels = weight.size(0);
  const int32_t group_outputs = out_channels / (in_channels / depth);
  // Without dilation and groups, a row of the window is one run of memory in both operands.
  const bool rows = w.dilation == 1 && depth == in_channels;

  int8_t* result = out.as<int8_t>();
  const int8_t* image = input.as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * in_channels) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      for (int32_t x = 0; x < w.output; ++x) {
        const Axis::Range xs = w.range(x);
        const int8_t* filter = weight.as<int8_t>();
        int32_t group_begin = 0;
        int32_t left_in_group = group_outputs;
        for (int32_t c = 0; c < out_channels; ++c, filter += h.kernel * w.kernel * depth) {
          uint32_t sum = 0;
          for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
            const int8_t* line =
                image + (ys.origin + ky * h.dilation) * w.input * in_channels + group_begin;
            const int8_t* taps = filter + ky * w.kernel * depth;
            if (rows) {
              sum += dot(line + (xs.origin + xs.begin) * in_channels, taps + xs.begin * depth,
                         (xs.end - xs.begin) * depth, offset);
              continue;
            }
            for (int32_t kx = xs.begin; kx < xs.end; ++kx) {
              sum += dot(line + (xs.origin + kx * w.dilation) * in_channels, taps + kx * depth,
                         depth, offset);
            }
          }
          *result++ = stage(sum, c);
          if (--left_in_group == 0) {
            left_in_group = group_outputs;
            group_begin += depth;
          }
        }
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_conv2d, "cortex_m::quantized_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels
