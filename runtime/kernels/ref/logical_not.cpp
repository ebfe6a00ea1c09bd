// aten::logical_not; the result is bool.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_known(args, 0));
  RT_TRY(expect_type(args, {1}, ScalarType::kBool));
  return expect_same_shape(args, 0, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(0).type(), [&]<typename T>(T) {
    map<T, bool>(args.tensor(0), args.tensor(1), [](T x) { return x == T{}; });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::logical_not.out", prepare, run);

}  // namespace rt::kernels
