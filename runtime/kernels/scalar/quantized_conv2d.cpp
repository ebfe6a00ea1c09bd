// cortex_m::quantized_conv2d without the DSP extension: any shape, weights as exported.

#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scalar/int8_convolution.hpp"

namespace rt::kernels::scalar {
namespace {

using A = ConvolutionArguments;
constexpr A kAt = {.input_offset = 6,
                   .output_offset = 7,
                   .multipliers = 8,
                   .shifts = 9,
                   .activation_min = 10,
                   .activation_max = 11,
                   .out = 13};
constexpr uint32_t kScratch = 12;

uint32_t scratch_bytes(const Args& args) {
  const Tensor& weight = args.tensor(A::kWeight);
  return convolution_bytes(weight.size(1) * weight.size(2) * weight.size(3));
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_conv2d(args, needs));
  if (scales_fit(args, kAt)) need_scratch(args, kScratch, scratch_bytes(args), needs);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!scales_fit(args, kAt)) return rt_fallback_quantized_conv2d(args, temporary);
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& weight = args.tensor(A::kWeight);
  Tensor& out = args.tensor(kAt.out);
  const Window window = convolution_window(args, out, weight.size(1), weight.size(2));
  const int32_t groups = input.size(1) / weight.size(3);
  Filters filters = {weight.as<int8_t>(), weight.size(3), 0, weight.size(0) / groups};
  std::byte* const scratch = take_scratch(args, kScratch, scratch_bytes(args), temporary);
  Stage stage(args, kAt);
  for (int32_t group = 0; group < groups; ++group) {
    convolve(input, args.integer(kAt.input_offset), window, filters, stage,
             out.as<int8_t>() + group * filters.outputs, out.size(1), scratch);
    filters.weights += filters.outputs * filters.size(window);
    filters.first += filters.depth;
    stage.advance(filters.outputs);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::scalar
