// cortex_m::quantized_transpose_conv2d without the DSP extension: a convolution for each phase of
// the stride.

#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/phases.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scalar/int8_convolution.hpp"

namespace rt::kernels::scalar {
namespace {

using namespace transposed;

bool suits(const Args& args, const TransposedWindow& window) {
  return has_phases(window) && scales_fit(args, kAt);
}

int32_t weights_bytes(const Args& args, const TransposedWindow& window) {
  const Tensor& weight = args.tensor(kWeight);
  return weight.size(0) * most_terms(window, weight.size(3));
}

uint32_t convolution_bytes(const Args& args, const TransposedWindow& window) {
  return scalar::convolution_bytes(most_terms(window, args.tensor(kWeight).size(3)));
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
  const Stage stage(args, kAt);
  for_each_column(args, window, weights, [&](const Column& column) {
    convolve(column.input, args.integer(kInputOffset), column.window, filters, stage, column.out,
             column.pixel_bytes, scratch);
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_transpose_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_transpose_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::scalar
