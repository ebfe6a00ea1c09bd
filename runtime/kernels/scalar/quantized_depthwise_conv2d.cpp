// cortex_m::quantized_depthwise_conv2d without the DSP extension: four channels of a pixel at a
// time; one input channel is a convolution of transposed weights.

#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scalar/int8_convolution.hpp"
#include "runtime/kernels/scalar/requantize.hpp"

namespace rt::kernels::scalar {
namespace {

using A = ConvolutionArguments;
constexpr A kAt = {.input_offset = 7,
                   .output_offset = 8,
                   .multipliers = 9,
                   .shifts = 10,
                   .activation_min = 11,
                   .activation_max = 12,
                   .out = 14};
constexpr uint32_t kScratch = 13;
constexpr int32_t kMostTaps = 1 << 15;      // their products' sum fits 32 bits
constexpr int32_t kTransposedBytes = 1536;  // weights of one input channel, filter after filter

enum class Way : uint8_t { kReference, kFour, kTransposed };

struct Geometry {
  Window window;
  int32_t in_channels, out_channels, taps;

  explicit Geometry(const Args& args) {
    const Tensor& weight = args.tensor(A::kWeight);
    window = convolution_window(args, args.tensor(kAt.out), weight.size(1), weight.size(2));
    in_channels = args.tensor(A::kInput).size(1);
    out_channels = weight.size(3);
    taps = weight.size(1) * weight.size(2);
  }

  // Filters that are transposed at a time.
  int32_t block() const {
    const int32_t most = kTransposedBytes / taps;
    return most < out_channels ? most : out_channels;
  }

  Way way(const Args& args) const {
    if (!scales_fit(args, kAt) || taps > kMostTaps) return Way::kReference;
    if (in_channels == 1) return block() > 0 ? Way::kTransposed : Way::kReference;
    return in_channels == out_channels && in_channels >= kChannels ? Way::kFour : Way::kReference;
  }

  uint32_t scratch_bytes(Way way) const {
    if (way == Way::kFour) return static_cast<uint32_t>(out_channels) * sizeof(int32_t);
    return convolution_bytes(taps) + static_cast<uint32_t>(block() * taps);
  }
};

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_depthwise_conv2d(args, needs));
  const Geometry geometry(args);
  const Way way = geometry.way(args);
  if (way != Way::kReference) need_scratch(args, kScratch, geometry.scratch_bytes(way), needs);
  return Error::kOk;
}

void run_transposed(const Args& args, const Geometry& geometry, std::byte* scratch) {
  const int32_t taps = geometry.taps;
  int8_t* const transposed = reinterpret_cast<int8_t*>(scratch) + convolution_bytes(taps);
  int8_t* const out = args.tensor(kAt.out).as<int8_t>();
  Stage stage(args, kAt);
  for (int32_t first = 0; first < geometry.out_channels; first += geometry.block()) {
    const int32_t left = geometry.out_channels - first;
    const int32_t outputs = left < geometry.block() ? left : geometry.block();
    int8_t* to = transposed;
    for (int32_t c = 0; c < outputs; ++c) {
      const int8_t* from = args.tensor(A::kWeight).as<int8_t>() + first + c;
      for (int32_t tap = 0; tap < taps; ++tap, from += geometry.out_channels) *to++ = *from;
    }
    const Filters filters = {transposed, 1, 0, outputs};
    convolve(args.tensor(A::kInput), args.integer(kAt.input_offset), geometry.window, filters,
             stage, out + first, geometry.out_channels, scratch);
    stage.advance(outputs);
  }
}

// The taps of a window that lie inside the input.
struct Taps {
  const int8_t* in;
  const int8_t* weights;
  int32_t rows, columns;
  int32_t in_row, in_step;  // bytes from row to row and from tap to tap
  int32_t weights_row, weights_step;
  int32_t offset;
};

// Sums of four channels; adds the input's offset to each input if `kOffset`.
template <bool kOffset>
void sum_four(const Taps& taps, int32_t channel, int32_t (&sums)[kChannels]) {
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  const int32_t offset = kOffset ? taps.offset : 0;
  const int8_t* in_row = taps.in + channel;
  const int8_t* weights_row = taps.weights + channel;
  for (int32_t row = taps.rows; row > 0; --row) {
    const int8_t* in = in_row;
    const int8_t* weights = weights_row;
    for (int32_t column = taps.columns; column > 0; --column) {
      s0 += (in[0] + offset) * weights[0];
      s1 += (in[1] + offset) * weights[1];
      s2 += (in[2] + offset) * weights[2];
      s3 += (in[3] + offset) * weights[3];
      in += taps.in_step;
      weights += taps.weights_step;
    }
    in_row += taps.in_row;
    weights_row += taps.weights_row;
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

// bias + offset * sum of the weights: what is added to a window that lies inside the input.
void fold_offset(const Args& args, const Geometry& geometry, const Stage& stage, int32_t* folded) {
  const int8_t* weights = args.tensor(A::kWeight).as<int8_t>();
  const int32_t offset = args.integer(kAt.input_offset);
  for (int32_t c = 0; c < geometry.out_channels; ++c, ++weights) {
    int32_t sum = 0;
    const int8_t* weight = weights;
    for (int32_t tap = 0; tap < geometry.taps; ++tap, weight += geometry.out_channels) {
      sum += *weight;
    }
    folded[c] = wrapping_add(stage.bias == nullptr ? 0 : stage.bias[c], offset * sum);
  }
}

// One pixel, all channels.
template <bool kOffset>
void run_pixel(const Taps& taps, const Stage& stage, const int32_t* bias, int32_t channels,
               int8_t* out) {
  for (int32_t c = 0; c < channels; c += kChannels) {
    // The last four overlap those before them.
    if (c + kChannels > channels) c = channels - kChannels;
    int32_t sums[kChannels];
    sum_four<kOffset>(taps, c, sums);
    for (int32_t i = 0; i < kChannels; ++i) {
      const Requantization requantize(stage.multipliers[c + i], stage.shifts[c + i], stage.offset,
                                      stage.low, stage.high);
      out[c + i] = requantize(wrapping_add(sums[i], bias == nullptr ? 0 : bias[c + i]));
    }
  }
}

void run_four(const Args& args, const Geometry& geometry, int32_t* folded) {
  const Tensor& input = args.tensor(A::kInput);
  const auto& [h, w] = geometry.window;
  const int32_t channels = geometry.out_channels;
  const Stage stage(args, kAt);
  fold_offset(args, geometry, stage, folded);
  const int32_t row_bytes = w.input * channels;
  Taps taps = {};
  taps.in_row = h.dilation * row_bytes;
  taps.in_step = w.dilation * channels;
  taps.weights_row = w.kernel * channels;
  taps.weights_step = channels;
  taps.offset = args.integer(kAt.input_offset);
  int8_t* out = args.tensor(kAt.out).as<int8_t>();
  const int8_t* image = input.as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * row_bytes) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      taps.rows = ys.end - ys.begin;
      for (int32_t x = 0; x < w.output; ++x, out += channels) {
        const Axis::Range xs = w.range(x);
        taps.columns = xs.end - xs.begin;
        taps.in = image + (ys.origin + ys.begin * h.dilation) * row_bytes +
                  (xs.origin + xs.begin * w.dilation) * channels;
        taps.weights =
            args.tensor(A::kWeight).as<int8_t>() + (ys.begin * w.kernel + xs.begin) * channels;
        if (taps.rows == h.kernel && taps.columns == w.kernel) {
          run_pixel<false>(taps, stage, folded, channels, out);
        } else {
          run_pixel<true>(taps, stage, stage.bias, channels, out);
        }
      }
    }
  }
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Geometry geometry(args);
  const Way way = geometry.way(args);
  if (way == Way::kReference) return rt_fallback_quantized_depthwise_conv2d(args, temporary);
  std::byte* const scratch = take_scratch(args, kScratch, geometry.scratch_bytes(way), temporary);
  if (way == Way::kFour) {
    run_four(args, geometry, reinterpret_cast<int32_t*>(scratch));
  } else {
    run_transposed(args, geometry, scratch);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_depthwise_conv2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_depthwise_conv2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::scalar
