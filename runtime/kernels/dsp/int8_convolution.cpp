#include "runtime/kernels/dsp/patches.hpp"

namespace rt::kernels::dsp {
namespace {

constexpr int32_t kNoBias = 0;

}  // namespace

bool scales_fit(const Args& args, const ConvolutionArguments& at, int32_t terms) {
  const Tensor& shifts = args.tensor(at.shifts);
  int32_t all = -1;  // stays negative as long as every shift is
  const int32_t* shift = shifts.as<int32_t>();
  for (const int32_t* const end = shift + shifts.numel(); shift != end; ++shift) all &= *shift;
  return scale_fits(all) && sums_fit(args.optional_tensor(ConvolutionArguments::kBias), terms);
}

Dot5 scales_of(const Args& args, const ConvolutionArguments& at) {
  const Tensor* bias = args.optional_tensor(ConvolutionArguments::kBias);
  Dot5 dot = {};
  dot.bias = bias == nullptr ? &kNoBias : bias->as<int32_t>();
  dot.bias_step = bias == nullptr ? 0 : sizeof(int32_t);
  dot.multipliers = args.tensor(at.multipliers).as<int32_t>();
  dot.shifts = args.tensor(at.shifts).as<int32_t>();
  dot.scale_step = sizeof(int32_t);
  dot.rounding = rounding_of(args.integer(at.output_offset));
  return dot;
}

void convolve(const Tensor& input, int32_t input_offset, const Window& window,
              const Filters& filters, Dot5 dot, int32_t pixel_bytes, std::byte* scratch) {
  const ConvolutionScratch layout(window, filters, pixels_of(input, window));
  int32_t* const activations = reinterpret_cast<int32_t*>(scratch);
  int8_t* const line = reinterpret_cast<int8_t*>(scratch) + layout.activations_bytes;
  const Patches<AddedQuads> patches(input, window, filters, AddedQuads{both(input_offset)},
                                    input_offset, line);
  dot.activations = activations;
  dot.channels = filters.outputs;
  dot.quads = filters.size(window) >> 2;
  dot.tail = filters.size(window) & 3;
  for_each_five(input, window, filters, patches, activations, line + layout.line_bytes, dot.out,
                pixel_bytes, [&](int8_t* out, int32_t out_stride) {
                  dot.out = out;
                  dot.out_stride = out_stride;
                  rt_dsp_dot5(&dot, filters.weights);
                });
}

}  // namespace rt::kernels::dsp
