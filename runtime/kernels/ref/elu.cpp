// aten::elu, float32: scale * x, or scale * alpha * (e^(input_scale * x) - 1)
// where x <= 0.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kAlpha, kScale, kInputScale, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tssso="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  const auto scale = static_cast<float>(args.number(kScale));
  const float negative = static_cast<float>(args.number(kAlpha)) * scale;
  const auto input_scale = static_cast<float>(args.number(kInputScale));
  map<float, float>(args.tensor(kInput), args.tensor(kOut), [=](float x) {
    return x <= 0.0F ? std::expm1(x * input_scale) * negative : x * scale;
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::elu.out", prepare, run);

}  // namespace rt::kernels
