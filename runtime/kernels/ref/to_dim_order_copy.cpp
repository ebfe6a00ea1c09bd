// dim_order_ops::_to_dim_order_copy and aten::_to_copy: another layout, another
// type.

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

void copy(const Tensor &input, Tensor &out) {
  if (input.type() == out.type()) {
    copy_layout(input, out);
  } else {
    convert(input, out);
  }
}

// The out tensor has the layout and the type that the arguments ask for.
Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tbmo="));
  return check_convert(args, 0, 3);
}

Error prepare_to_copy(Args &args, Needs &) {
  RT_TRY(args.match("tbjo="));
  return check_convert(args, 0, 3);
}

Error run(const Args &args, std::span<std::byte>) {
  copy(args.tensor(0), args.tensor(3));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("dim_order_ops::_to_dim_order_copy.out", prepare, run);
RT_KERNEL("aten::_to_copy.out", prepare_to_copy, run);

}  // namespace rt::kernels
