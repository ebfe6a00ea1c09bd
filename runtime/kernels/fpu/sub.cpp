// aten::sub.out of floats, broadcast: self minus alpha * other.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_rows.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kSelf, kOther, kAlpha, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_sub(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  Tensor& out = args.tensor(kOut);
  if (out.type() != ScalarType::kFloat) return rt_fallback_sub(args, temporary);
  sum(args.tensor(kSelf), args.tensor(kOther), out, -static_cast<float>(args.number(kAlpha)));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::sub.out", prepare, run);

}  // namespace rt::kernels::fpu
