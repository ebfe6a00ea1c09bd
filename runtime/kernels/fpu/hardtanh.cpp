// aten::hardtanh.out of tensors that lie alike; ReLU6 is one.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kMin, kMax, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_hardtanh(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  if (!same_layout(input, out)) return rt_fallback_hardtanh(args, temporary);
  const float bounds[] = {static_cast<float>(args.number(kMin)),
                          static_cast<float>(args.number(kMax))};
  rt_float_clamp(input.as<float>(), out.as<float>(), out.numel(), bounds);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::hardtanh.out", prepare, run);

}  // namespace rt::kernels::fpu
