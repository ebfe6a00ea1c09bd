// aten::bitwise_not, of integers; of bool it is the logical one.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_integers(args, 0));
  RT_TRY(expect_type(args, {1}, args.tensor(0).type()));
  return expect_same_shape(args, 0, 1);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(0);
  if (input.type() == ScalarType::kBool) {
    map<uint8_t, uint8_t>(input, args.tensor(1),
                          [](uint8_t x) { return static_cast<uint8_t>(x == 0 ? 1 : 0); });
    return Error::kOk;
  }
  for_integer_type(input.type(), [&]<typename T>(T) {
    map<T, T>(input, args.tensor(1), [](T x) { return static_cast<T>(~x); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::bitwise_not.out", prepare, run);

}  // namespace rt::kernels
