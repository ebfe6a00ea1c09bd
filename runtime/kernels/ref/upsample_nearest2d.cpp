// aten::upsample_nearest2d, float32: each output is the input that it falls on.

#include "runtime/kernels/upsample.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kFactors, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tmDo="));
  return check_upsample(args, kSizes, kFactors, kOut);
}

int32_t source(int32_t out, float step, int32_t size) {
  const auto index = static_cast<int32_t>(static_cast<float>(out) * step);
  return index < size ? index : size - 1;
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const float step_h = input_step(args, kFactors, out, 0);
  const float step_w = input_step(args, kFactors, out, 1);
  const Strides strides = input.strides();
  for_each_output(input, out, [&](const float *plane, int32_t at, int32_t y, int32_t x) {
    const int32_t row = source(y, step_h, input.size(2));
    const int32_t column = source(x, step_w, input.size(3));
    out.as<float>()[at] = plane[row * strides.of[2] + column * strides.of[3]];
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::upsample_nearest2d.vec_out", prepare, run);

}  // namespace rt::kernels
