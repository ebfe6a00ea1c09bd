// cortex_m::quantized_depthwise_conv2d: weights IHWO, output channel c reads input channel
// c / depth_multiplier.

#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

using A = ConvolutionArguments;
constexpr uint32_t kDepthMultiplier = 6;
constexpr A kAt = {.input_offset = 7,
                   .output_offset = 8,
                   .multipliers = 9,
                   .shifts = 10,
                   .activation_min = 11,
                   .activation_max = 12,
                   .out = 14};

Error prepare(Args& args, Needs& needs) {
  // The planned scratch (13) is CMSIS-NN's; this kernel needs none.
  RT_TRY(args.match("ttnllliiittiito="));
  RT_TRY(expect_rank(args, A::kInput, 4));
  RT_TRY(expect_rank(args, A::kWeight, 4));
  RT_TRY(expect_rank(args, kAt.out, 4));
  const Tensor& weight = args.tensor(A::kWeight);
  RT_TRY(check_convolution(args, kAt, weight.size(1), weight.size(2), weight.size(3), needs));
  RT_TRY(expect_range(args, kDepthMultiplier, 1, weight.size(3)));
  const int64_t outputs = int64_t{args.tensor(A::kInput).size(1)} * args.integer(kDepthMultiplier);
  const bool fits = weight.size(0) == 1 && outputs == weight.size(3);
  return fits ? Error::kOk : args.refuse(A::kWeight, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& weight = args.tensor(A::kWeight);
  Tensor& out = args.tensor(kAt.out);
  const int32_t offset = args.integer(kAt.input_offset);
  const int32_t depth_multiplier = args.integer(kDepthMultiplier);
  const OutputStage stage(args, kAt);
  const Window window = convolution_window(args, out, weight.size(1), weight.size(2));
  const auto& [h, w] = window;
  const int32_t in_channels = input.size(1);
  const int32_t out_channels = weight.size(3);
  const int32_t step = w.dilation * in_channels;

  int8_t* result = out.as<int8_t>();
  const int8_t* image = input.as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * in_channels) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      for (int32_t x = 0; x < w.output; ++x) {
        const Axis::Range xs = w.range(x);
        const int32_t corner = (xs.origin + xs.begin * w.dilation) * in_channels;
        int32_t in_channel = 0;
        int32_t left_of_channel = depth_multiplier;
        for (int32_t c = 0; c < out_channels; ++c) {
          uint32_t sum = 0;
          for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
            const int8_t* in =
                image + (ys.origin + ky * h.dilation) * w.input * in_channels + corner + in_channel;
            const int8_t* tap = weight.as<int8_t>() + (ky * w.kernel + xs.begin) * out_channels + c;
            for (int32_t kx = xs.begin; kx < xs.end; ++kx, in += step, tap += out_channels) {
              sum += static_cast<uint32_t>((*in + offset) * *tap);
            }
          }
          *result++ = stage(sum, c);
          if (--left_of_channel == 0) {
            left_of_channel = depth_multiplier;
            ++in_channel;
          }
        }
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_depthwise_conv2d, "cortex_m::quantized_depthwise_conv2d.out", prepare,
                    run);
RT_NHWC_KERNEL("cortex_m::quantized_depthwise_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels
