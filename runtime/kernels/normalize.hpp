// Mean and deviation of float rows and of groups of channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

struct Moments {
  float mean, inverse;  // inverse: 1 / sqrt(variance + epsilon)
};

// Two passes: the variance is summed around the mean, so that a large mean
// costs no digits. each(visit) calls visit(x) for every one of `count` numbers.
template <typename Each>
Moments moments_of(Each each, uint32_t count, float epsilon) {
  const auto size = static_cast<float>(count);
  float sum = 0.0F;
  each([&](float x) { sum += x; });
  const float mean = sum / size;
  float squares = 0.0F;
  each([&](float x) { squares += (x - mean) * (x - mean); });
  return {mean, 1.0F / __builtin_sqrtf(squares / size + epsilon)};
}

// Blocks of a tensor of rank 2 or more: some of the batch, some channels
// (dimension 1), any layout.
class Channels {
 public:
  Channels(const Tensor &input, Tensor &out, const Tensor *weight, const Tensor *bias)
      : input_(input),
        out_(out),
        weight_(weight == nullptr ? nullptr : weight->as<float>()),
        bias_(bias == nullptr ? nullptr : bias->as<float>()),
        in_strides_(input.strides()),
        out_strides_(out.strides()) {
    for (const uint8_t dim : out.dim_order()) {
      if (dim < 2) continue;
      pixels_.add(out.size(dim), {in_strides_.of[dim], out_strides_.of[dim]});
      count_ *= static_cast<uint32_t>(out.size(dim));
    }
  }

  Moments moments(int32_t n_begin, int32_t n_end, int32_t c_begin, int32_t c_end,
                  float epsilon) const {
    const auto blocks = static_cast<uint32_t>((n_end - n_begin) * (c_end - c_begin));
    return moments_of(
        [&](auto visit) {
          each(n_begin, n_end, c_begin, c_end, [&](int32_t, const float &x, float &) { visit(x); });
        },
        blocks * count_, epsilon);
  }

  void apply(const Moments &moments, int32_t n_begin, int32_t n_end, int32_t c_begin,
             int32_t c_end) const {
    each(n_begin, n_end, c_begin, c_end, [&](int32_t c, const float &x, float &y) {
      const float scale = weight_ == nullptr ? 1.0F : weight_[c];
      const float shift = bias_ == nullptr ? 0.0F : bias_[c];
      y = (x - moments.mean) * moments.inverse * scale + shift;
    });
  }

 private:
  template <typename Visit>
  void each(int32_t n_begin, int32_t n_end, int32_t c_begin, int32_t c_end, Visit visit) const {
    for (int32_t n = n_begin; n < n_end; ++n) {
      for (int32_t c = c_begin; c < c_end; ++c) {
        const float *in = input_.as<float>() + n * in_strides_.of[0] + c * in_strides_.of[1];
        float *out = out_.as<float>() + n * out_strides_.of[0] + c * out_strides_.of[1];
        pixels_.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
          for (int32_t i = 0; i < count; ++i) {
            visit(c, in[offset[0] + i * stride[0]], out[offset[1] + i * stride[1]]);
          }
        });
      }
    }
  }

  const Tensor &input_;
  Tensor &out_;
  const float *weight_;
  const float *bias_;
  Strides in_strides_, out_strides_;
  Walk<2> pixels_;
  uint32_t count_ = 1;
};

}  // namespace rt::kernels
