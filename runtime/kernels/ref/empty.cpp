// aten::empty and dim_order_ops::_empty_dim_order: a tensor of any numbers.

#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ljo="));
  return expect_sizes(args, 0, 2);
}

Error prepare_dim_order(Args &args, Needs &) {
  RT_TRY(args.match("lmo="));
  return expect_sizes(args, 0, 2);
}

// What lies there will do.
Error run(const Args &, std::span<std::byte>) { return Error::kOk; }

}  // namespace

RT_KERNEL("aten::empty.out", prepare, run);
RT_KERNEL("dim_order_ops::_empty_dim_order.out", prepare_dim_order, run);

}  // namespace rt::kernels
