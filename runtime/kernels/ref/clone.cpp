// aten::clone, detach_copy, alias_copy and lift_fresh_copy: the same values.
// Any type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

Error check(Args &args, uint32_t out) {
  RT_TRY(expect_type(args, {out}, args.tensor(0).type()));
  return same_shape(args.tensor(0), args.tensor(out)) ? Error::kOk
                                                      : args.refuse(out, Error::kArgumentShape);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  return check(args, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  copy_layout(args.tensor(0), args.tensor(1));
  return Error::kOk;
}

// The memory format is that of the out tensor.
Error prepare_clone(Args &args, Needs &) {
  RT_TRY(args.match("tjo="));
  return check(args, 2);
}

Error run_clone(const Args &args, std::span<std::byte>) {
  copy_layout(args.tensor(0), args.tensor(2));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::clone.out", prepare_clone, run_clone);
RT_KERNEL("aten::detach_copy.out", prepare, run);
RT_KERNEL("aten::alias_copy.out", prepare, run);
RT_KERNEL("aten::lift_fresh_copy.out", prepare, run);

}  // namespace rt::kernels
