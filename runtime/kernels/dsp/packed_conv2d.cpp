// cortex_m::quantized_conv2d.dsp1: weights packed for the DSP extension (packed.hpp), one group.

#include "runtime/kernels/dsp/packed.hpp"
#include "runtime/kernels/dsp/patches.hpp"
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
  Filters filters;

  explicit Geometry(const Args& args) {
    const Tensor& weight = args.tensor(A::kWeight);
    window = convolution_window(args, args.tensor(kAt.out), weight.size(1), weight.size(2));
    filters = {weight.as<int8_t>(), weight.size(3), 0, weight.size(0)};
  }
  uint32_t scratch_bytes(const Tensor& input) const {
    return ConvolutionScratch(window, filters, pixels_of(input, window)).bytes();
  }
};

// No other kernel reads these weights: what is not as the packer writes it is refused.
Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_conv2d(args, needs));
  const Geometry geometry(args);
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& weight = args.tensor(A::kWeight);
  const int32_t terms = geometry.filters.size(geometry.window);
  const bool packed = reads_as_packed(weight, args.optional_tensor(A::kBias), terms) &&
                      weight.size(3) == input.size(1) && weight.size(3) % 4 == 0;
  if (!packed) return args.refuse(A::kWeight, Error::kArgumentValue);
  if (!scales_fit(args, kAt, 1)) return args.refuse(kAt.shifts, Error::kArgumentValue);
  need_scratch(args, kScratch, geometry.scratch_bytes(input), needs);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Geometry geometry(args);
  const auto& [window, filters] = geometry;
  const Tensor& input = args.tensor(A::kInput);
  Tensor& out = args.tensor(kAt.out);
  std::byte* const scratch = take_scratch(args, kScratch, geometry.scratch_bytes(input), temporary);
  const ConvolutionScratch layout(window, filters, pixels_of(input, window));
  int32_t* const activations = reinterpret_cast<int32_t*>(scratch);
  int8_t* const few = reinterpret_cast<int8_t*>(scratch) + layout.activations_bytes;
  const int32_t zero_point = -args.integer(kAt.input_offset);
  const Patches<PackedQuads> patches(input, window, filters, PackedQuads(zero_point), -zero_point,
                                     nullptr);
  Packed5 dot = {};
  dot.activations = activations;
  dot.octets = filters.size(window) / kPackedStep;
  dot.bias = args.tensor(A::kBias).as<int32_t>();
  dot.multipliers = args.tensor(kAt.multipliers).as<int32_t>();
  dot.shifts_after_bytes =
      static_cast<int32_t>(reinterpret_cast<uintptr_t>(args.tensor(kAt.shifts).data()) -
                           reinterpret_cast<uintptr_t>(dot.multipliers));
  dot.channels = filters.outputs;
  dot.rounding = rounding_of(args.integer(kAt.output_offset));
  for_each_five(input, window, filters, patches, activations, few, out.as<int8_t>(), out.size(1),
                [&](int8_t* to, int32_t stride) {
                  dot.out = to;
                  dot.out_stride = stride;
                  rt_dsp_packed5(&dot, filters.weights);
                });
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kAt.activation_min),
              args.integer(kAt.activation_max));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_conv2d.dsp1", prepare, run);

}  // namespace rt::kernels::dsp
