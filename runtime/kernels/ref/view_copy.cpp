// aten::view_copy: the same elements in another shape. Any type.

#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kOut = 2 };

Error prepare(Args& args, Needs&) {
  // The out tensor's shape says all that the arguments do.
  RT_TRY(args.match("tlo="));
  return check_reshape(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  reshape(args.tensor(kInput), args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::view_copy.out", prepare, run);

}  // namespace rt::kernels
