// cortex_m::quantized_depthwise_conv2d with the DSP extension: one output a channel, four or more
// of them; or one input channel, which is a convolution with transposed weights.

#include "runtime/kernels/dsp/depthwise.hpp"
#include "runtime/kernels/dsp/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
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
constexpr uint32_t kScratch = 13;

// Most bytes of weights that are transposed at once.
constexpr int32_t kTransposedBytes = 1536;

enum class Path : uint8_t { kReference, kPerChannel, kOneChannel };

Window window_of(const Args& args) {
  const Tensor& weight = args.tensor(A::kWeight);
  return convolution_window(args, args.tensor(kAt.out), weight.size(1), weight.size(2));
}

Path choose(const Args& args, const Window& window) {
  if (!scales_fit(args, kAt, window.h.kernel * window.w.kernel)) return Path::kReference;
  const int32_t channels = args.tensor(A::kInput).size(1);
  if (channels == 1) return Path::kOneChannel;
  const bool suits = args.integer(kDepthMultiplier) == 1 && channels >= kQuad &&
                     window.h.kernel <= kMaxKernel && window.w.kernel <= kMaxKernel;
  return suits ? Path::kPerChannel : Path::kReference;
}

Depthwise depthwise_of(const Args& args, const Window& window) {
  const int32_t channels = args.tensor(A::kInput).size(1);
  const auto& [h, w] = window;
  const StridedAxis rows = {h, w.input * channels, w.output * channels, w.kernel * channels};
  const StridedAxis columns = {w, channels, channels, channels};
  const Tensor* bias = args.optional_tensor(A::kBias);
  const bool down = h.output >= w.output;
  return {down ? rows : columns,
          down ? columns : rows,
          channels,
          args.integer(kAt.input_offset),
          rounding_of(args.integer(kAt.output_offset)),
          args.tensor(A::kWeight).as<int8_t>(),
          bias == nullptr ? nullptr : bias->as<int32_t>(),
          args.tensor(kAt.multipliers).as<int32_t>(),
          args.tensor(kAt.shifts).as<int32_t>()};
}

// The filters of a one-channel convolution, as many as are transposed at once.
Filters filters_of(const Args& args, const Window& window) {
  const int32_t outputs = args.tensor(A::kWeight).size(3);
  const int32_t most = kTransposedBytes / (window.h.kernel * window.w.kernel);
  const int32_t blocks = most == 0 ? outputs : (outputs + most - 1) / most;
  return {nullptr, 1, 0, (outputs + blocks - 1) / blocks};
}

uint32_t transposed_bytes(const Window& window, const Filters& filters) {
  return static_cast<uint32_t>(round_up_to_quad(filters.outputs * filters.size(window)));
}

void convolve_one_channel(const Args& args, const Window& window, std::byte* scratch) {
  const Tensor& weight = args.tensor(A::kWeight);
  Tensor& out = args.tensor(kAt.out);
  const int32_t outputs = weight.size(3);
  Filters filters = filters_of(args, window);
  int8_t* const transposed = reinterpret_cast<int8_t*>(scratch);
  std::byte* const rest = scratch + transposed_bytes(window, filters);
  filters.weights = transposed;
  const int32_t taps = filters.size(window);
  Dot5 dot = scales_of(args, kAt);
  dot.out = out.as<int8_t>();
  for (int32_t done = 0; done < outputs; done += filters.outputs) {
    if (filters.outputs > outputs - done) filters.outputs = outputs - done;
    const int8_t* from = weight.as<int8_t>() + done;
    for (int32_t tap = 0; tap < taps; ++tap, from += outputs) {
      for (int32_t c = 0; c < filters.outputs; ++c) transposed[c * taps + tap] = from[c];
    }
    convolve(args.tensor(A::kInput), args.integer(kAt.input_offset), window, filters, dot, outputs,
             rest);
    dot.out += filters.outputs;
    dot.multipliers += filters.outputs;
    dot.shifts += filters.outputs;
    if (dot.bias_step != 0) dot.bias += filters.outputs;
  }
}

uint32_t scratch_bytes(const Args& args, const Window& window, Path path) {
  if (path == Path::kOneChannel) {
    const Filters filters = filters_of(args, window);
    const int32_t pixels = pixels_of(args.tensor(A::kInput), window);
    return transposed_bytes(window, filters) + ConvolutionScratch(window, filters, pixels).bytes();
  }
  return depthwise_of(args, window).scratch_bytes();
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_depthwise_conv2d(args, needs));
  const Window window = window_of(args);
  const Path path = choose(args, window);
  if (path != Path::kReference) {
    need_scratch(args, kScratch, scratch_bytes(args, window, path), needs);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Window window = window_of(args);
  const Path path = choose(args, window);
  if (path == Path::kReference) return rt_fallback_quantized_depthwise_conv2d(args, temporary);
  std::byte* const scratch =
      take_scratch(args, kScratch, scratch_bytes(args, window, path), temporary);
  const Tensor& input = args.tensor(A::kInput);
  Tensor& out = args.tensor(kAt.out);
  if (path == Path::kOneChannel) {
    convolve_one_channel(args, window, scratch);
  } else {
    const Depthwise depthwise = depthwise_of(args, window);
    const int32_t images = input.size(0);
    const int32_t in_bytes = static_cast<int32_t>(input.numel()) / images;
    const int32_t out_bytes = static_cast<int32_t>(out.numel()) / images;
    for (int32_t n = 0; n < images; ++n) {
      convolve_depthwise(depthwise, input.as<int8_t>() + n * in_bytes,
                         out.as<int8_t>() + n * out_bytes, scratch);
    }
  }
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kAt.activation_min),
              args.integer(kAt.activation_max));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_depthwise_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_depthwise_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::dsp
