// aten::scalar_tensor: a number as a tensor without dimensions.

#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kValue, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("so="));
  if (args.tensor(kOut).numel() != 1) return args.refuse(kOut, Error::kArgumentShape);
  return check_fill(args, kValue, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  fill(args.tensor(kOut), args, kValue);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::scalar_tensor.out", prepare, run);

}  // namespace rt::kernels
