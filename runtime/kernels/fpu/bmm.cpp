// aten::bmm.out of row-major matrices; the second ones may be transposed.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kA, kB, kOut };

Factor factor_of(const Args& args) {
  const Tensor& b = args.tensor(kB);
  return {b.as<float>(), b.size(1), b.size(2), lie_of(b) == Lie::kColumns};
}

bool suits(const Args& args) {
  return lie_of(args.tensor(kA)) == Lie::kRows && lie_of(args.tensor(kB)) != Lie::kOtherwise &&
         lie_of(args.tensor(kOut)) == Lie::kRows && columns_suffice(factor_of(args));
}

Error prepare(Args& args, Needs& needs) { return rt_checks_bmm(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_bmm(args, temporary);
  const int32_t rows = args.tensor(kA).size(1);
  const float* a = args.tensor(kA).as<float>();
  Factor b = factor_of(args);
  float* out = args.tensor(kOut).as<float>();
  for (int32_t n = 0; n < args.tensor(kA).size(0); ++n) {
    multiply(a, rows, b, nullptr, out);
    a += rows * b.depth;
    b.data += b.depth * b.columns;
    out += rows * b.columns;
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::bmm.out", prepare, run);

}  // namespace rt::kernels::fpu
