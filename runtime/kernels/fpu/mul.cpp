// aten::mul.out of floats, broadcast.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_mul(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  Tensor& out = args.tensor(kOut);
  if (out.type() != ScalarType::kFloat) return rt_fallback_mul(args, temporary);
  product(args.tensor(kSelf), args.tensor(kOther), out);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::mul.out", prepare, run);

}  // namespace rt::kernels::fpu
