// aten::mm.out of row-major matrices; the second one may be transposed.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kA, kB, kOut };

Factor factor_of(const Args& args) {
  const Tensor& b = args.tensor(kB);
  return {b.as<float>(), b.size(0), b.size(1), lie_of(b) == Lie::kColumns};
}

bool suits(const Args& args) {
  return lie_of(args.tensor(kA)) == Lie::kRows && lie_of(args.tensor(kB)) != Lie::kOtherwise &&
         lie_of(args.tensor(kOut)) == Lie::kRows && columns_suffice(factor_of(args));
}

Error prepare(Args& args, Needs& needs) { return rt_checks_mm(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_mm(args, temporary);
  const Tensor& a = args.tensor(kA);
  multiply(a.as<float>(), a.size(0), factor_of(args), nullptr, args.tensor(kOut).as<float>());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::mm.out", prepare, run);

}  // namespace rt::kernels::fpu
