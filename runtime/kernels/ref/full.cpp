// aten::full: a tensor of one number.

#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSizes, kValue, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("lso="));
  RT_TRY(expect_sizes(args, kSizes, kOut));
  return check_fill(args, kValue, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  fill(args.tensor(kOut), args, kValue);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::full.out", prepare, run);

}  // namespace rt::kernels
