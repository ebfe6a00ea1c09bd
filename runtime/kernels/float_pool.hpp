// What the float pools share: geometry, checks, and the walk over outputs. Any layout.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels {

struct FloatPoolArguments {
  static constexpr uint32_t kInput = 0, kKernel = 1, kStride = 2, kPadding = 3;
};

// An empty list of strides means the kernel's size.
inline uint32_t stride_argument(const Args& args) {
  using A = FloatPoolArguments;
  return args.list(A::kStride).count() == 0 ? A::kKernel : A::kStride;
}

inline Window float_pool_window(const Args& args, const Tensor& out, int32_t dilation_h,
                                int32_t dilation_w) {
  using A = FloatPoolArguments;
  const Tensor& input = args.tensor(A::kInput);
  Window window = {};
  window.h.input = input.size(2);
  window.w.input = input.size(3);
  window.h.output = out.size(2);
  window.w.output = out.size(3);
  window.h.dilation = dilation_h;
  window.w.dilation = dilation_w;
  get_pair(args, A::kKernel, window.h.kernel, window.w.kernel);
  get_pair(args, stride_argument(args), window.h.stride, window.w.stride);
  get_pair(args, A::kPadding, window.h.padding, window.w.padding);
  return window;
}

inline Error check_float_pool(Args& args, uint32_t out_index, bool round_up, int32_t dilation_h,
                              int32_t dilation_w) {
  using A = FloatPoolArguments;
  RT_TRY(expect_type(args, {A::kInput, out_index}, ScalarType::kFloat));
  RT_TRY(expect_rank(args, A::kInput, 4));
  RT_TRY(expect_rank(args, out_index, 4));
  const Tensor& input = args.tensor(A::kInput);
  const Tensor& out = args.tensor(out_index);
  if (input.numel() == 0) return args.refuse(A::kInput, Error::kArgumentShape);
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, A::kKernel, 1, h, w));
  RT_TRY(read_pair(args, stride_argument(args), 1, h, w));
  RT_TRY(read_pair(args, A::kPadding, 0, h, w));
  const Window window = float_pool_window(args, out, dilation_h, dilation_w);
  // torch's own rule.
  if (2 * window.h.padding > window.h.kernel || 2 * window.w.padding > window.w.kernel) {
    return args.refuse(A::kPadding, Error::kArgumentValue);
  }
  const bool shape_fits =
      out.size(0) == input.size(0) && out.size(1) == input.size(1) && fits(window, round_up);
  return shape_fits ? Error::kOk : args.refuse(out_index, Error::kArgumentShape);
}

// @return positions of the window that lie inside the input and its padding.
inline int32_t padded_count(const Axis& axis, int32_t out) {
  const int32_t begin = out * axis.stride - axis.padding;
  const int32_t padded_end = axis.input + axis.padding;
  const int32_t end = begin + axis.kernel < padded_end ? begin + axis.kernel : padded_end;
  return end - begin;
}

// Calls visit(first element of the plane, output element's offset, y, x) for each output.
template <typename Visit>
void for_each_output(const Tensor& input, const Tensor& out, Visit visit) {
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  for (int32_t n = 0; n < out.size(0); ++n) {
    for (int32_t c = 0; c < out.size(1); ++c) {
      const float* plane = input.as<float>() + n * in_strides.of[0] + c * in_strides.of[1];
      const int32_t out_plane = n * out_strides.of[0] + c * out_strides.of[1];
      for (int32_t y = 0; y < out.size(2); ++y) {
        for (int32_t x = 0; x < out.size(3); ++x) {
          visit(plane, out_plane + y * out_strides.of[2] + x * out_strides.of[3], y, x);
        }
      }
    }
  }
}

}  // namespace rt::kernels
