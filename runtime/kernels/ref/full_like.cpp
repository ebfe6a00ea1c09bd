// aten::full_like: a tensor of one number, in the shape of another.

#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kLike, kValue, kMemoryFormat, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tsjo="));
  RT_TRY(expect_same_shape(args, kLike, kOut));
  return check_fill(args, kValue, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  fill(args.tensor(kOut), args, kValue);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::full_like.out", prepare, run);

}  // namespace rt::kernels
