// What the int8 pools share: arguments, checks and the walk over windows. NHWC in memory.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels {

struct PoolArguments {
  static constexpr uint32_t kInput = 0, kKernel = 1, kStride = 2, kPadding = 3;
};

template <typename ArgsType>
Window pool_window(const ArgsType& args, const Tensor& out) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Window window = {};
  window.h.input = input.size(2);
  window.w.input = input.size(3);
  window.h.output = out.size(2);
  window.w.output = out.size(3);
  window.h.dilation = window.w.dilation = 1;
  get_pair(args, PoolArguments::kKernel, window.h.kernel, window.w.kernel);
  get_pair(args, PoolArguments::kStride, window.h.stride, window.w.stride);
  get_pair(args, PoolArguments::kPadding, window.h.padding, window.w.padding);
  return window;
}

inline Error check_pool(Args& args, uint32_t out_index, bool round_up) {
  using A = PoolArguments;
  RT_TRY(expect_type(args, {A::kInput, out_index}, ScalarType::kChar));
  RT_TRY(expect_channels_last(args, {A::kInput, out_index}));
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& out = args.tensor(out_index);
  if (input.numel() == 0) return args.refuse(A::kInput, Error::kArgumentShape);
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, A::kKernel, 1, h, w));
  RT_TRY(read_pair(args, A::kStride, 1, h, w));
  RT_TRY(read_pair(args, A::kPadding, 0, h, w));
  const Window window = pool_window(args, out);
  // torch's own rule; with it each window holds at least one element of the input.
  if (2 * window.h.padding > window.h.kernel || 2 * window.w.padding > window.w.kernel) {
    return args.refuse(A::kPadding, Error::kArgumentValue);
  }
  const bool shape_fits =
      out.size(0) == input.size(0) && out.size(1) == input.size(1) && fits(window, round_up);
  return shape_fits ? Error::kOk : args.refuse(out_index, Error::kArgumentShape);
}

// For each output, combine(accumulator, element) over its window from `initial` on, then
// finish(accumulator, elements).
template <typename Combine, typename Finish>
void pool(const Tensor& input, Tensor& out, const Window& window, int32_t initial, Combine combine,
          Finish finish) {
  const auto& [h, w] = window;
  const int32_t channels = input.size(1);
  int8_t* result = out.as<int8_t>();
  const int8_t* image = input.as<int8_t>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * channels) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      for (int32_t x = 0; x < w.output; ++x) {
        const Axis::Range xs = w.range(x);
        const int32_t count = (ys.end - ys.begin) * (xs.end - xs.begin);
        const int8_t* corner =
            image + ((ys.origin + ys.begin) * w.input + xs.origin + xs.begin) * channels;
        for (int32_t c = 0; c < channels; ++c) {
          int32_t accumulator = initial;
          const int8_t* line = corner + c;
          for (int32_t ky = ys.begin; ky < ys.end; ++ky, line += w.input * channels) {
            const int8_t* in = line;
            for (int32_t kx = xs.begin; kx < xs.end; ++kx, in += channels) {
              accumulator = combine(accumulator, *in);
            }
          }
          *result++ = finish(accumulator, count);
        }
      }
    }
  }
}

}  // namespace rt::kernels
