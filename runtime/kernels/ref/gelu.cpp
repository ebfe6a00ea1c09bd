// aten::gelu, float32: x times the normal distribution's function of x, exact
// or by tanh.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kApproximate, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("txo="));
  const std::string_view approximate = args.text(kApproximate);
  if (approximate != "none" && approximate != "tanh") {
    return args.refuse(kApproximate, Error::kArgumentValue);
  }
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  if (args.text(kApproximate) == "none") {
    constexpr float kSqrtHalf = 0.70710678F;
    map<float, float>(input, args.tensor(kOut),
                      [](float x) { return 0.5F * x * (1.0F + std::erf(x * kSqrtHalf)); });
  } else {
    constexpr float kSqrtTwoOverPi = 0.79788456F;
    map<float, float>(input, args.tensor(kOut), [](float x) {
      const float inner = kSqrtTwoOverPi * (x + 0.044715F * x * x * x);
      return 0.5F * x * (1.0F + std::tanh(inner));
    });
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(gelu, "aten::gelu.out", prepare, run);

}  // namespace rt::kernels
