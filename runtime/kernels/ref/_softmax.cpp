// aten::_softmax along one dimension, float32, of any layout.

#include <cmath>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/float_unary.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kHalfToFloat, kOut };

uint32_t softmax_dim(const Args& args) {
  const int32_t dim = args.integer(kDim);
  const auto rank = static_cast<int32_t>(args.tensor(kInput).rank());
  return static_cast<uint32_t>(dim < 0 ? dim + rank : dim);
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tibo="));
  if (args.boolean(kHalfToFloat)) return args.refuse(kHalfToFloat, Error::kArgumentValue);
  RT_TRY(check_float_unary(args, kInput, kOut));
  return softmax_dim(args) < args.tensor(kInput).rank() ? Error::kOk
                                                        : args.refuse(kDim, Error::kArgumentValue);
}

void softmax(const float* in, int32_t in_step, float* out, int32_t out_step, int32_t count) {
  float largest = in[0];
  for (int32_t i = 1; i < count; ++i) {
    if (in[i * in_step] > largest) largest = in[i * in_step];
  }
  float sum = 0.0F;
  for (int32_t i = 0; i < count; ++i) {
    const float power = std::exp(in[i * in_step] - largest);
    out[i * out_step] = power;
    sum += power;
  }
  for (int32_t i = 0; i < count; ++i) out[i * out_step] /= sum;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const uint32_t along = softmax_dim(args);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    if (dim != along) walk.add(out.size(dim), {in_strides.of[dim], out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    for (int32_t i = 0; i < count; ++i) {
      softmax(input.as<float>() + offset[0] + i * stride[0], in_strides.of[along],
              out.as<float>() + offset[1] + i * stride[1], out_strides.of[along],
              input.size(along));
    }
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_softmax.out", prepare, run);

}  // namespace rt::kernels
