// aten::leaky_relu, float32: negative numbers times the slope.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSlope, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  const auto slope = static_cast<float>(args.number(kSlope));
  map<float, float>(args.tensor(kInput), args.tensor(kOut),
                    [=](float x) { return x > 0.0F ? x : x * slope; });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::leaky_relu.out", prepare, run);

}  // namespace rt::kernels
