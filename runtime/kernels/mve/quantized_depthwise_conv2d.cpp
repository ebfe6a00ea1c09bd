// cortex_m::quantized_depthwise_conv2d with Helium: one output a channel, four or more of them; or
// one input channel, which is a convolution with transposed weights.

#include "runtime/kernels/mve/copy.hpp"
#include "runtime/kernels/mve/depthwise.hpp"
#include "runtime/kernels/mve/int8_convolution.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
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
          args.integer(kAt.output_offset),
          needs_away(args.integer(kAt.output_offset), args.integer(kAt.activation_min)),
          args.tensor(A::kWeight).as<int8_t>(),
          bias == nullptr ? nullptr : bias->as<int32_t>(),
          args.tensor(kAt.multipliers).as<int32_t>(),
          args.tensor(kAt.shifts).as<int32_t>()};
}

Path choose(const Args& args, const Window& window) {
  if (!scales_fit(args, kAt)) return Path::kReference;
  if (args.tensor(A::kInput).size(1) == 1) {
    const bool suits = args.tensor(A::kWeight).size(3) >= kChannels;
    return suits ? Path::kOneChannel : Path::kReference;
  }
  const bool suits = args.integer(kDepthMultiplier) == 1 && depthwise_of(args, window).suits();
  return suits ? Path::kPerChannel : Path::kReference;
}

// The filters of a one-channel convolution, as many as are transposed at once.
Filters filters_of(const Args& args, const Window& window) {
  const int32_t outputs = args.tensor(A::kWeight).size(3);
  const int32_t most = kTransposedBytes / (window.h.kernel * window.w.kernel);
  if (most <= kChannels) return {nullptr, 1, 0, kChannels};
  const int32_t blocks = (outputs + most - 1) / most;
  const int32_t count = (outputs + blocks - 1) / blocks;
  return {nullptr, 1, 0, count < kChannels ? kChannels : count};
}

uint32_t transposed_bytes(const Window& window, const Filters& filters) {
  return static_cast<uint32_t>((filters.outputs * filters.size(window) + 3) & ~3);
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
  Stage stage(args, kAt);
  for (int32_t done = 0; done < outputs;) {
    // The last filters are done again as far as they were done, so that there are always four.
    const int32_t begin = outputs - done < filters.outputs ? outputs - filters.outputs : done;
    const int8_t* from = weight.as<int8_t>() + begin;
    for (int32_t tap = 0; tap < taps; ++tap, from += outputs) {
      for (int32_t c = 0; c < filters.outputs; ++c) transposed[c * taps + tap] = from[c];
    }
    Stage block = stage;
    block.advance(begin);
    convolve(args.tensor(A::kInput), window, filters, block, out.as<int8_t>() + begin, outputs,
             rest);
    done = begin + filters.outputs;
  }
}

uint32_t scratch_bytes(const Args& args, const Window& window, Path path) {
  if (path == Path::kOneChannel) {
    const Filters filters = filters_of(args, window);
    return transposed_bytes(window, filters) + convolution_bytes(window, filters);
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
  if (path == Path::kOneChannel) {
    convolve_one_channel(args, window, scratch);
    return Error::kOk;
  }
  const Tensor& input = args.tensor(A::kInput);
  Tensor& out = args.tensor(kAt.out);
  const Depthwise depthwise = depthwise_of(args, window);
  const int32_t images = input.size(0);
  const int32_t in_bytes = static_cast<int32_t>(input.numel()) / images;
  const int32_t out_bytes = static_cast<int32_t>(out.numel()) / images;
  for (int32_t n = 0; n < images; ++n) {
    convolve_depthwise(depthwise, input.as<int8_t>() + n * in_bytes,
                       out.as<int8_t>() + n * out_bytes, scratch);
  }
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kAt.activation_min),
              args.integer(kAt.activation_max));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_depthwise_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_depthwise_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::mve
