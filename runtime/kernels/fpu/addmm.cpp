// aten::addmm.out of row-major matrices, with a row added to each of the product's; the second
// matrix may be transposed.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kSelf, kA, kB, kBeta, kAlpha, kOut };

Factor factor_of(const Args& args) {
  const Tensor& b = args.tensor(kB);
  return {b.as<float>(), b.size(0), b.size(1), lie_of(b) == Lie::kColumns};
}

// Columns are done again, so what is added must not be what was written.
bool apart(const Tensor& a, const Tensor& b) {
  return a.data() + a.nbytes() <= b.data() || b.data() + b.nbytes() <= a.data();
}

bool suits(const Args& args) {
  const Tensor& self = args.tensor(kSelf);
  const Factor b = factor_of(args);
  const bool is_row = self.numel() == static_cast<uint32_t>(b.columns) && self.rank() > 0 &&
                      self.size(self.rank() - 1) == b.columns;
  return is_row && args.number(kBeta) == 1.0 && args.number(kAlpha) == 1.0 &&
         apart(self, args.tensor(kOut)) && lie_of(args.tensor(kA)) == Lie::kRows &&
         lie_of(args.tensor(kB)) != Lie::kOtherwise && lie_of(args.tensor(kOut)) == Lie::kRows &&
         columns_suffice(b);
}

Error prepare(Args& args, Needs& needs) { return rt_checks_addmm(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_addmm(args, temporary);
  const Tensor& a = args.tensor(kA);
  multiply(a.as<float>(), a.size(0), factor_of(args), args.tensor(kSelf).as<float>(),
           args.tensor(kOut).as<float>());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::addmm.out", prepare, run);

}  // namespace rt::kernels::fpu
