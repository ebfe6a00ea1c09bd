// cortex_m::quantized_conv2d with Helium: any shape of four or more filters a group.

#include "runtime/kernels/mve/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
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
  return geometry.filters.outputs >= kChannels && scales_fit(args, kAt);
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_conv2d(args, needs));
  const Geometry geometry(args);
  if (suits(args, geometry)) {
    const uint32_t bytes = convolution_bytes(geometry.window, geometry.filters);
    need_scratch(args, kScratch, bytes, needs);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  Geometry geometry(args);
  if (!suits(args, geometry)) return rt_fallback_quantized_conv2d(args, temporary);
  const auto& [window, filters, groups] = geometry;
  Tensor& out = args.tensor(kAt.out);
  std::byte* const scratch =
      take_scratch(args, kScratch, convolution_bytes(window, filters), temporary);
  Stage stage(args, kAt);
  for (int32_t group = 0; group < groups; ++group) {
    convolve(args.tensor(A::kInput), window, filters, stage,
             out.as<int8_t>() + group * filters.outputs, out.size(1), scratch);
    geometry.filters.weights += filters.outputs * filters.size(window);
    geometry.filters.first += filters.depth;
    stage.advance(filters.outputs);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::mve
