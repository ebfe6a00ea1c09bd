// aten::_adaptive_avg_pool2d, float32: means over windows that share the input
// out evenly.

#include "runtime/kernels/float_pool.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tlo="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  RT_TRY(expect_rank(args, kInput, 4));
  RT_TRY(expect_rank(args, kOut, 4));
  const Tensor &input = args.tensor(kInput);
  const Tensor &out = args.tensor(kOut);
  if (input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  const bool fits = out.size(0) == input.size(0) && out.size(1) == input.size(1) &&
                    int64_t{out.size(2)} * input.size(2) < (int64_t{1} << 30) &&
                    int64_t{out.size(3)} * input.size(3) < (int64_t{1} << 30);
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

// torch's start_index and end_index (aten/src/ATen/native/AdaptivePooling.h).
struct Span {
  int32_t begin, end;
};
Span span_of(int32_t out, int32_t outputs, int32_t inputs) {
  return {out * inputs / outputs, ((out + 1) * inputs + outputs - 1) / outputs};
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const Strides strides = input.strides();
  for_each_output(input, out, [&](const float *plane, int32_t at, int32_t y, int32_t x) {
    const Span rows = span_of(y, out.size(2), input.size(2));
    const Span columns = span_of(x, out.size(3), input.size(3));
    float sum = 0.0F;
    for (int32_t row = rows.begin; row < rows.end; ++row) {
      for (int32_t column = columns.begin; column < columns.end; ++column) {
        sum += plane[row * strides.of[2] + column * strides.of[3]];
      }
    }
    const int32_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
    out.as<float>()[at] = sum / static_cast<float>(count);
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_adaptive_avg_pool2d.out", prepare, run);

}  // namespace rt::kernels
