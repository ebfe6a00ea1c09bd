// aten::gelu.out, approximated by tanh, of tensors that lie alike: 0.5 (1 + tanh u) is
// 1 / (1 + e^-2u).

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/fpu/float_math.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kApproximate, kOut };

bool suits(const Args& args) {
  return args.text(kApproximate) == "tanh" && same_layout(args.tensor(kInput), args.tensor(kOut));
}

Vector gelu(Vector x) {
  constexpr float kTwice = 2.0F * 0.79788456F;  // 2 sqrt(2 / pi)
  const Vector factor = horner(multiply(x, x), all(0.044715F), 1.0F);
  return multiply(x, logistic(multiply(multiply(x, factor), all(kTwice))));
}

Error prepare(Args& args, Needs& needs) { return rt_checks_gelu(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_gelu(args, temporary);
  Tensor& out = args.tensor(kOut);
  map_floats(args.tensor(kInput).as<float>(), out.as<float>(), static_cast<int32_t>(out.numel()),
             gelu);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::gelu.out", prepare, run);

}  // namespace rt::kernels::fpu
