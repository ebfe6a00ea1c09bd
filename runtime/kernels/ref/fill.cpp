// aten::fill: a tensor of one number, or of a tensor's only element, in the shape of another.

#include "runtime/kernels/fill.hpp"

#include "runtime/kernels/assign.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kLike, kValue, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_same_shape(args, kLike, kOut));
  return check_fill(args, kValue, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  fill(args.tensor(kOut), args, kValue);
  return Error::kOk;
}

Error prepare_element(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kLike).type()));
  RT_TRY(expect_same_shape(args, kLike, kOut));
  if (args.tensor(kValue).numel() != 1) return args.refuse(kValue, Error::kArgumentShape);
  return check_assign(args, kValue, kOut);
}

Error run_element(const Args &args, std::span<std::byte>) {
  assign(args.tensor(kValue), args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::fill.Tensor_out", prepare_element, run_element);
RT_KERNEL("aten::fill.Scalar_out", prepare, run);

}  // namespace rt::kernels
