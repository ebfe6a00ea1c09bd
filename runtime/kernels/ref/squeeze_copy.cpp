// aten::squeeze_copy: without some dimensions of size 1. Any type.

#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kOut = 2 };

Error prepare(Args& args, Needs&) {
  // The out tensor's shape says all that the arguments do.
  RT_TRY(args.match("tlo="));
  return check_reshape(args, kInput, kOut);
}

Error prepare_dim(Args& args, Needs&) {
  RT_TRY(args.match("tio="));
  return check_reshape(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  reshape(args.tensor(kInput), args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::squeeze_copy.dims_out", prepare, run);
RT_KERNEL("aten::squeeze_copy.dim_out", prepare_dim, run);

}  // namespace rt::kernels
