// aten::copy: another tensor's elements, broadcast and converted, in the shape of self; copy_
// writes self itself. Any type, conversions between the known ones.

#include "runtime/kernels/assign.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kSource, kNonBlocking, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttbo="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kSelf).type()));
  RT_TRY(expect_same_shape(args, kSelf, kOut));
  return check_assign(args, kSource, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  assign(args.tensor(kSource), args.tensor(kOut));
  return Error::kOk;
}

Error prepare_in_place(Args& args, Needs&) {
  RT_TRY(args.match("otb_"));
  return check_assign(args, kSource, kSelf);
}

Error run_in_place(const Args& args, std::span<std::byte>) {
  assign(args.tensor(kSource), args.tensor(kSelf));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::copy.out", prepare, run);
RT_KERNEL("aten::copy_", prepare_in_place, run_in_place);

}  // namespace rt::kernels
