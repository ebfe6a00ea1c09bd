// cortex_m::quantized_transpose_conv2d: int8 images, weights OHWI, one group.
//
// Each output gathers its terms, so padding need not be a multiple of the stride: CMSIS-NN's
// arm_transpose_conv_s8 gets that wrong and writes past its output (CMSIS-NN issue 230).

#include "runtime/kernels/int8_transposed.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

using namespace transposed;

Error prepare(Args& args, Needs& needs) {
  // Both scratch tensors are CMSIS-NN's; this kernel needs none.
  RT_TRY(args.match("ttnlllliittiitto="));
  RT_TRY(expect_type(args, {kInput, kWeight, kOut}, ScalarType::kChar));
  RT_TRY(expect_channels_last(args, {kInput, kOut}));
  RT_TRY(expect_rank(args, kWeight, 4));
  RT_TRY(expect_contiguous(args, {kWeight}));
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  if (input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  if (weight.numel() == 0 || weight.size(3) != input.size(1)) {
    return args.refuse(kWeight, Error::kArgumentShape);
  }
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, kStride, 1, h, w));
  RT_TRY(read_pair(args, kPadding, 0, h, w));
  RT_TRY(read_pair(args, kDilation, 1, h, w));
  RT_TRY(read_pair(args, kOutputPadding, 0, h, w));
  const int32_t channels = weight.size(0);
  const bool shape_fits =
      out.size(0) == input.size(0) && out.size(1) == channels && fits(window_of(args), h, w);
  if (!shape_fits) return args.refuse(kOut, Error::kArgumentShape);
  RT_TRY(expect_bias(args, kBias, channels));
  RT_TRY(expect_offset(args, kInputOffset));
  RT_TRY(expect_zero_point(args, kOutputOffset));
  needs.elements_read += static_cast<uint32_t>(channels);
  RT_TRY(expect_requantizations(args, kMultipliers, kShifts, channels));
  return expect_activation(args, kActivationMin, kActivationMax);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const auto [h, w] = window_of(args);
  const OutputStage stage(args, kAt);
  const int32_t depth = input.size(1);
  const int32_t channels = weight.size(0);
  const int32_t offset = args.integer(kInputOffset);
  const int8_t* image = input.as<int8_t>();
  int8_t* result = args.tensor(kOut).as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * depth) {
    for (int32_t y = 0; y < h.output; ++y) {
      for (int32_t x = 0; x < w.output; ++x) {
        const int8_t* filter = weight.as<int8_t>();
        for (int32_t c = 0; c < channels; ++c) {
          uint32_t sum = 0;
          for (int32_t ky = 0; ky < h.kernel; ++ky) {
            const int32_t row = h.source(y, ky);
            for (int32_t kx = 0; kx < w.kernel; ++kx, filter += depth) {
              const int32_t column = w.source(x, kx);
              if (row < 0 || column < 0) continue;
              const int8_t* in = image + (row * w.input + column) * depth;
              for (int32_t k = 0; k < depth; ++k) {
                sum += static_cast<uint32_t>((in[k] + offset) * filter[k]);
              }
            }
          }
          *result++ = stage(sum, c);
        }
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_transpose_conv2d, "cortex_m::quantized_transpose_conv2d.out", prepare,
                    run);
RT_NHWC_KERNEL("cortex_m::quantized_transpose_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels
