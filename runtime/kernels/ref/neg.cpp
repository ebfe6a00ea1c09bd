// aten::neg: the negated number. float32, int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_number(args, 0));
  RT_TRY(expect_type(args, {1}, args.tensor(0).type()));
  return expect_same_shape(args, 0, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(0).type(), [&]<typename T>(T) {
    map<T, T>(args.tensor(0), args.tensor(1),
              [](T x) { return std::is_floating_point_v<T> ? -x : wrapped_difference(T{}, x); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::neg.out", prepare, run);

}  // namespace rt::kernels
