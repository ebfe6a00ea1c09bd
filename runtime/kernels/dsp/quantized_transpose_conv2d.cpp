// cortex_m::quantized_transpose_conv2d with the DSP extension: a convolution for each phase of the
// stride.

#include "runtime/kernels/dsp/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/phases.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
namespace {

using namespace transposed;

bool suits(const Args& args, const TransposedWindow& window) {
  return has_phases(window) &&
         scales_fit(args, kAt, most_terms(window, args.tensor(kWeight).size(3)));
}

int32_t weights_bytes(const Args& args, const TransposedWindow& window) {
  const Tensor& weight = args.tensor(kWeight);
  return weight.size(0) * most_terms(window, weight.size(3));
}

// The most that a phase's convolution takes.
uint32_t convolution_bytes(const Args& args, const TransposedWindow& window) {
  const Tensor& weight = args.tensor(kWeight);
  const Filters filters = {nullptr, weight.size(3), 0, weight.size(0)};
  uint32_t most = 0;
  for_each_phase(window, [&](const Phase& h, const Phase& w) {
    const Window column = {h.axis(window.h.input, 0, h.outputs), w.axis(window.w.input, 0, 1)};
    const ConvolutionScratch scratch(column, filters, h.outputs);
    if (scratch.bytes() > most) most = scratch.bytes();
  });
  return most;
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_transpose_conv2d(args, needs));
  const TransposedWindow window = window_of(args);
  if (suits(args, window)) {
    const uint32_t bytes =
        convolution_bytes(args, window) + static_cast<uint32_t>(weights_bytes(args, window));
    need_scratch(args, kScratch, bytes, needs);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const TransposedWindow window = window_of(args);
  if (!suits(args, window)) return rt_fallback_quantized_transpose_conv2d(args, temporary);
  const uint32_t working_bytes = convolution_bytes(args, window);
  const uint32_t bytes = working_bytes + static_cast<uint32_t>(weights_bytes(args, window));
  std::byte* const scratch = take_scratch(args, kScratch, bytes, temporary);
  int8_t* const weights = reinterpret_cast<int8_t*>(scratch + working_bytes);
  const Filters filters = {weights, args.tensor(kWeight).size(3), 0, args.tensor(kWeight).size(0)};
  Dot5 dot = scales_of(args, kAt);
  for_each_column(args, window, weights, [&](const Column& column) {
    dot.out = column.out;
    convolve(column.input, args.integer(kInputOffset), column.window, filters, dot,
             column.pixel_bytes, scratch);
  });
  Tensor& out = args.tensor(kOut);
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kActivationMin),
              args.integer(kActivationMax));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_transpose_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_transpose_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::dsp
