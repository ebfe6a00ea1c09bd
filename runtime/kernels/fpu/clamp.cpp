// aten::clamp.out of floats that lie alike, between numbers.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kMin, kMax, kOut };

float bound(const Args& args, uint32_t i, float unbounded) {
  return args.is_none(i) ? unbounded : static_cast<float>(args.number(i));
}

Error prepare(Args& args, Needs& needs) { return rt_checks_clamp(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  if (input.type() != ScalarType::kFloat || !same_layout(input, out)) {
    return rt_fallback_clamp(args, temporary);
  }
  const float bounds[] = {bound(args, kMin, -__builtin_inff()),
                          bound(args, kMax, __builtin_inff())};
  rt_float_clamp(input.as<float>(), out.as<float>(), out.numel(), bounds);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::clamp.out", prepare, run);

}  // namespace rt::kernels::fpu
