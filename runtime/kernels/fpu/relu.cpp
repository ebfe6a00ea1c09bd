// aten::relu.out of tensors that lie alike.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_relu(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  if (!same_layout(input, out)) return rt_fallback_relu(args, temporary);
  rt_float_relu(input.as<float>(), out.as<float>(), out.numel());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::relu.out", prepare, run);

}  // namespace rt::kernels::fpu
