// aten::upsample_bilinear2d, float32: each output is made of the four inputs
// around it.

#include "runtime/kernels/upsample.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kAlignCorners, kFactors, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tmbDo="));
  return check_upsample(args, kSizes, kFactors, kOut);
}

// Along one dimension: two inputs and the share of the second.
struct Between {
  int32_t low, high;
  float share;
};

struct Axis2 {
  int32_t inputs;
  float step;
  bool corners;

  Between at(int32_t out) const {
    float position = 0.0F;
    if (corners) {
      position = static_cast<float>(out) * step;
    } else {
      position = (static_cast<float>(out) + 0.5F) * step - 0.5F;
      if (position < 0.0F) position = 0.0F;
    }
    auto low = static_cast<int32_t>(position);
    if (low > inputs - 1) low = inputs - 1;
    const int32_t high = low + 1 < inputs ? low + 1 : low;
    const float share = position - static_cast<float>(low);
    return {low, high, share > 1.0F ? 1.0F : share};
  }
};

Axis2 axis_of(const Args &args, uint32_t i) {
  const Tensor &out = args.tensor(kOut);
  const int32_t inputs = args.tensor(kInput).size(2 + i);
  if (!args.boolean(kAlignCorners)) return {inputs, input_step(args, kFactors, out, i), false};
  const int32_t outputs = out.size(2 + i);
  const float step =
      outputs > 1 ? static_cast<float>(inputs - 1) / static_cast<float>(outputs - 1) : 0.0F;
  return {inputs, step, true};
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const Axis2 h = axis_of(args, 0);
  const Axis2 w = axis_of(args, 1);
  const Strides strides = input.strides();
  for_each_output(input, out, [&](const float *plane, int32_t at, int32_t y, int32_t x) {
    const Between row = h.at(y);
    const Between column = w.at(x);
    const float *low = plane + row.low * strides.of[2];
    const float *high = plane + row.high * strides.of[2];
    const int32_t left = column.low * strides.of[3];
    const int32_t right = column.high * strides.of[3];
    const float a = 1.0F - column.share;
    out.as<float>()[at] = (1.0F - row.share) * (a * low[left] + column.share * low[right]) +
                          row.share * (a * high[left] + column.share * high[right]);
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::upsample_bilinear2d.vec_out", prepare, run);

}  // namespace rt::kernels
