// dim_order_ops::_clone_dim_order and aten copies in another layout: the same
// values. Any type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kNonBlocking, kDimOrder, kOut };

// The out tensor has the layout that the dim order asks for.
Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tbmo="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  return same_shape(args.tensor(kInput), args.tensor(kOut))
             ? Error::kOk
             : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  copy_layout(args.tensor(kInput), args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("dim_order_ops::_clone_dim_order.out", prepare, run);

}  // namespace rt::kernels
