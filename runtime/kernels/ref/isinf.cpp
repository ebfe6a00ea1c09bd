// aten::isinf, float32 to bool.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_type(args, {0}, ScalarType::kFloat));
  RT_TRY(expect_type(args, {1}, ScalarType::kBool));
  return expect_same_shape(args, 0, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  map<float, bool>(args.tensor(0), args.tensor(1), [](float x) { return std::isinf(x); });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::isinf.out", prepare, run);

}  // namespace rt::kernels
