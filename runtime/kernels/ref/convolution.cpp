// aten::convolution over two dimensions, float32, grouped, of any layout; not transposed.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kOutputPadding,
  kGroups,
  kOut,
};

Window window_of(const Args& args) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  Window window = {};
  window.h.input = input.size(2);
  window.w.input = input.size(3);
  window.h.output = out.size(2);
  window.w.output = out.size(3);
  window.h.kernel = weight.size(2);
  window.w.kernel = weight.size(3);
  get_pair(args, kStride, window.h.stride, window.w.stride);
  get_pair(args, kPadding, window.h.padding, window.w.padding);
  get_pair(args, kDilation, window.h.dilation, window.w.dilation);
  return window;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttnlllblio="));
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut}, ScalarType::kFloat));
  for (const uint32_t i : {kInput, kWeight, kOut}) RT_TRY(expect_rank(args, i, 4));
  if (args.boolean(kTransposed)) return args.refuse(kTransposed, Error::kArgumentValue);
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  if (input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  if (weight.numel() == 0) return args.refuse(kWeight, Error::kArgumentShape);
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, kStride, 1, h, w));
  RT_TRY(read_pair(args, kPadding, 0, h, w));
  RT_TRY(read_pair(args, kDilation, 1, h, w));
  RT_TRY(expect_range(args, kGroups, 1, input.size(1)));
  const int32_t groups = args.integer(kGroups);
  if (int64_t{weight.size(1)} * groups != input.size(1) || weight.size(0) % groups != 0) {
    return args.refuse(kWeight, Error::kArgumentShape);
  }
  const bool shape_fits =
      out.size(0) == input.size(0) && out.size(1) == weight.size(0) && fits(window_of(args), false);
  if (!shape_fits) return args.refuse(kOut, Error::kArgumentShape);
  const Tensor* bias = args.optional_tensor(kBias);
  const bool bias_fits = bias == nullptr || bias->numel() == static_cast<uint32_t>(weight.size(0));
  return bias_fits ? Error::kOk : args.refuse(kBias, Error::kArgumentShape);
}

// One output: the sum over the window's positions inside the input, then over channels.
struct Position {
  Axis::Range y, x;
};

float convolve(const float* in, const Strides& in_strides, const float* taps,
               const Strides& tap_strides, const Window& window, const Position& at,
               int32_t channels) {
  const int32_t in_step = in_strides.of[1];
  const int32_t tap_step = tap_strides.of[1];
  float sum = 0.0F;
  for (int32_t ky = at.y.begin; ky < at.y.end; ++ky) {
    const float* line = in + (at.y.origin + ky * window.h.dilation) * in_strides.of[2];
    const float* tap_line = taps + ky * tap_strides.of[2];
    for (int32_t kx = at.x.begin; kx < at.x.end; ++kx) {
      const float* x = line + (at.x.origin + kx * window.w.dilation) * in_strides.of[3];
      const float* tap = tap_line + kx * tap_strides.of[3];
      for (int32_t c = 0; c < channels; ++c, x += in_step, tap += tap_step) sum += *x * *tap;
    }
  }
  return sum;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  Tensor& out = args.tensor(kOut);
  const Tensor* bias = args.optional_tensor(kBias);
  const Window window = window_of(args);
  const Strides in_strides = input.strides();
  const Strides tap_strides = weight.strides();
  const Strides out_strides = out.strides();
  const int32_t depth = weight.size(1);
  const int32_t group_outputs = weight.size(0) / args.integer(kGroups);

  for (int32_t n = 0; n < input.size(0); ++n) {
    const float* image = input.as<float>() + n * in_strides.of[0];
    float* result = out.as<float>() + n * out_strides.of[0];
    for (int32_t y = 0; y < window.h.output; ++y) {
      for (int32_t x = 0; x < window.w.output; ++x) {
        const Position at = {window.h.range(y), window.w.range(x)};
        float* pixel = result + y * out_strides.of[2] + x * out_strides.of[3];
        const float* taps = weight.as<float>();
        const float* group = image;
        int32_t left_in_group = group_outputs;
        for (int32_t c = 0; c < weight.size(0); ++c, taps += tap_strides.of[0]) {
          const float sum = convolve(group, in_strides, taps, tap_strides, window, at, depth);
          pixel[c * out_strides.of[1]] = sum + (bias == nullptr ? 0.0F : bias->as<float>()[c]);
          if (--left_in_group == 0) {
            left_in_group = group_outputs;
            group += depth * in_strides.of[1];
          }
        }
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::convolution.out", prepare, run);

}  // namespace rt::kernels
