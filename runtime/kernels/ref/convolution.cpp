// aten::convolution over one or two dimensions, float32, grouped, transposed or
// not, any layout.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/transposed.hpp"
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

// A tensor of rank 3 or 4 seen as N x C x H x W: one dimension is W, and H
// is 1.
struct Image {
  int32_t n, c, h, w;
  int32_t step_n, step_c, step_h, step_w;
};

Image image_of(const Tensor &tensor) {
  const Strides strides = tensor.strides();
  const bool flat = tensor.rank() == 3;
  const uint32_t last = tensor.rank() - 1;
  return {tensor.size(0), tensor.size(1), flat ? 1 : tensor.size(2), tensor.size(last),
          strides.of[0],  strides.of[1],  flat ? 0 : strides.of[2],  strides.of[last]};
}

// Reads a pair for H and W; H has `neutral` where there is one dimension.
void get(const Args &args, uint32_t i, int32_t neutral, int32_t &h, int32_t &w) {
  get_pair(args, i, h, w);
  if (args.tensor(kInput).rank() == 3) h = neutral;
}

template <typename WindowType>
WindowType window_of(const Args &args) {
  const Image input = image_of(args.tensor(kInput));
  const Image weight = image_of(args.tensor(kWeight));
  const Image out = image_of(args.tensor(kOut));
  WindowType window = {};
  window.h.input = input.h;
  window.w.input = input.w;
  window.h.output = out.h;
  window.w.output = out.w;
  window.h.kernel = weight.h;
  window.w.kernel = weight.w;
  get(args, kStride, 1, window.h.stride, window.w.stride);
  get(args, kPadding, 0, window.h.padding, window.w.padding);
  get(args, kDilation, 1, window.h.dilation, window.w.dilation);
  return window;
}

Error check_lists(Args &args) {
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, kStride, 1, h, w));
  RT_TRY(read_pair(args, kPadding, 0, h, w));
  RT_TRY(read_pair(args, kDilation, 1, h, w));
  return args.boolean(kTransposed) ? read_pair(args, kOutputPadding, 0, h, w) : Error::kOk;
}

bool window_fits(const Args &args) {
  if (!args.boolean(kTransposed)) return fits(window_of<Window>(args), false);
  int32_t h = 0;
  int32_t w = 0;
  get(args, kOutputPadding, 0, h, w);
  return fits(window_of<TransposedWindow>(args), h, w);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttnlllblio="));
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut}, ScalarType::kFloat));
  const Tensor &input = args.tensor(kInput);
  const Tensor &weight = args.tensor(kWeight);
  const Tensor &out = args.tensor(kOut);
  const uint32_t rank = input.rank() == 3 ? 3 : 4;
  for (const uint32_t i : {kInput, kWeight, kOut}) RT_TRY(expect_rank(args, i, rank));
  if (input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  if (weight.numel() == 0) return args.refuse(kWeight, Error::kArgumentShape);
  RT_TRY(check_lists(args));
  RT_TRY(expect_range(args, kGroups, 1, input.size(1)));
  const int32_t groups = args.integer(kGroups);
  // Weights are outputs x inputs of a group, transposed ones inputs x outputs
  // of a group.
  const bool transposed = args.boolean(kTransposed);
  const int64_t of_group = int64_t{weight.size(1)} * groups;
  const int64_t outputs = transposed ? of_group : weight.size(0);
  const int64_t inputs = transposed ? weight.size(0) : of_group;
  if (inputs != input.size(1) || weight.size(0) % groups != 0) {
    return args.refuse(kWeight, Error::kArgumentShape);
  }
  const bool shape_fits =
      out.size(0) == input.size(0) && out.size(1) == outputs && window_fits(args);
  if (!shape_fits) return args.refuse(kOut, Error::kArgumentShape);
  const Tensor *bias = args.optional_tensor(kBias);
  const bool bias_fits = bias == nullptr || bias->numel() == static_cast<uint32_t>(outputs);
  return bias_fits ? Error::kOk : args.refuse(kBias, Error::kArgumentShape);
}

// One output: the sum over the window's positions inside the input, then over
// channels.
struct Position {
  Axis::Range y, x;
};

float convolve(const float *in, const Image &input, const float *taps, const Image &weight,
               const Window &window, const Position &at, int32_t channels) {
  float sum = 0.0F;
  for (int32_t ky = at.y.begin; ky < at.y.end; ++ky) {
    const float *line = in + (at.y.origin + ky * window.h.dilation) * input.step_h;
    const float *tap_line = taps + ky * weight.step_h;
    for (int32_t kx = at.x.begin; kx < at.x.end; ++kx) {
      const float *x = line + (at.x.origin + kx * window.w.dilation) * input.step_w;
      const float *tap = tap_line + kx * weight.step_w;
      for (int32_t c = 0; c < channels; ++c, x += input.step_c, tap += weight.step_c) {
        sum += *x * *tap;
      }
    }
  }
  return sum;
}

void convolve_all(const Args &args) {
  const Image input = image_of(args.tensor(kInput));
  const Image weight = image_of(args.tensor(kWeight));
  const Image out = image_of(args.tensor(kOut));
  const Tensor *bias = args.optional_tensor(kBias);
  const auto window = window_of<Window>(args);
  const int32_t depth = weight.c;
  const int32_t group_outputs = weight.n / args.integer(kGroups);
  for (int32_t n = 0; n < input.n; ++n) {
    const float *image = args.tensor(kInput).as<float>() + n * input.step_n;
    float *result = args.tensor(kOut).as<float>() + n * out.step_n;
    for (int32_t y = 0; y < window.h.output; ++y) {
      for (int32_t x = 0; x < window.w.output; ++x) {
        const Position at = {window.h.range(y), window.w.range(x)};
        float *pixel = result + y * out.step_h + x * out.step_w;
        const float *taps = args.tensor(kWeight).as<float>();
        const float *group = image;
        int32_t left_in_group = group_outputs;
        for (int32_t c = 0; c < weight.n; ++c, taps += weight.step_n) {
          const float sum = convolve(group, input, taps, weight, window, at, depth);
          pixel[c * out.step_c] = sum + (bias == nullptr ? 0.0F : bias->as<float>()[c]);
          if (--left_in_group == 0) {
            left_in_group = group_outputs;
            group += depth * input.step_c;
          }
        }
      }
    }
  }
}

float gather(const float *in, const Image &input, const float *taps, const Image &weight,
             const TransposedWindow &window, int32_t y, int32_t x, int32_t channels) {
  float sum = 0.0F;
  for (int32_t ky = 0; ky < window.h.kernel; ++ky) {
    const int32_t row = window.h.source(y, ky);
    if (row < 0) continue;
    for (int32_t kx = 0; kx < window.w.kernel; ++kx) {
      const int32_t column = window.w.source(x, kx);
      if (column < 0) continue;
      const float *from = in + row * input.step_h + column * input.step_w;
      const float *tap = taps + ky * weight.step_h + kx * weight.step_w;
      for (int32_t c = 0; c < channels; ++c, from += input.step_c, tap += weight.step_n) {
        sum += *from * *tap;
      }
    }
  }
  return sum;
}

void convolve_transposed(const Args &args) {
  const Image input = image_of(args.tensor(kInput));
  const Image weight = image_of(args.tensor(kWeight));
  const Image out = image_of(args.tensor(kOut));
  const Tensor *bias = args.optional_tensor(kBias);
  const auto window = window_of<TransposedWindow>(args);
  const int32_t depth = input.c / args.integer(kGroups);
  for (int32_t n = 0; n < input.n; ++n) {
    const float *image = args.tensor(kInput).as<float>() + n * input.step_n;
    float *result = args.tensor(kOut).as<float>() + n * out.step_n;
    for (int32_t c = 0; c < out.c; ++c) {
      const int32_t first = c / weight.c * depth;  // of the group's inputs
      const float *taps =
          args.tensor(kWeight).as<float>() + first * weight.step_n + c % weight.c * weight.step_c;
      const float addend = bias == nullptr ? 0.0F : bias->as<float>()[c];
      for (int32_t y = 0; y < window.h.output; ++y) {
        for (int32_t x = 0; x < window.w.output; ++x) {
          result[c * out.step_c + y * out.step_h + x * out.step_w] =
              gather(image + first * input.step_c, input, taps, weight, window, y, x, depth) +
              addend;
        }
      }
    }
  }
}

Error run(const Args &args, std::span<std::byte>) {
  if (args.boolean(kTransposed)) {
    convolve_transposed(args);
  } else {
    convolve_all(args);
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(convolution, "aten::convolution.out", prepare, run);

}  // namespace rt::kernels
