// cortex_m::quantized_conv2d with the DSP extension: any shape, weights as exported.

#include "runtime/kernels/dsp/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
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

struct Geometry {
  Window window;
  Filters filters;  // the first group
  int32_t groups;

  explicit Geometry(const Args& args) {
    const Tensor& weight = args.tensor(A::kWeight);
    window = convolution_window(args, args.tensor(kAt.out), weight.size(1), weight.size(2));
    groups = args.tensor(A::kInput).size(1) / weight.size(3);
    filters = {weight.as<int8_t>(), weight.size(3), 0, weight.size(0) / groups};
  }
};

bool suits(const Args& args, const Geometry& geometry) {
  return scales_fit(args, kAt, geometry.filters.size(geometry.window));
}

uint32_t scratch_bytes(const Args& args, const Geometry& geometry) {
  const int32_t pixels = pixels_of(args.tensor(A::kInput), geometry.window);
  return ConvolutionScratch(geometry.window, geometry.filters, pixels).bytes();
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_conv2d(args, needs));
  const Geometry geometry(args);
  if (suits(args, geometry)) need_scratch(args, kScratch, scratch_bytes(args, geometry), needs);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  Geometry geometry(args);
  if (!suits(args, geometry)) return rt_fallback_quantized_conv2d(args, temporary);
  const auto& [window, filters, groups] = geometry;
  Tensor& out = args.tensor(kAt.out);
  std::byte* const scratch = take_scratch(args, kScratch, scratch_bytes(args, geometry), temporary);
  Dot5 dot = scales_of(args, kAt);
  dot.out = out.as<int8_t>();
  for (int32_t group = 0; group < groups; ++group) {
    convolve(args.tensor(A::kInput), args.integer(kAt.input_offset), window, filters, dot,
             out.size(1), scratch);
    geometry.filters.weights += filters.outputs * filters.size(window);
    geometry.filters.first += filters.depth;
    dot.out += filters.outputs;
    dot.multipliers += filters.outputs;
    dot.shifts += filters.outputs;
    if (dot.bias_step != 0) dot.bias += filters.outputs;
  }
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kAt.activation_min),
              args.integer(kAt.activation_max));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::dsp
