// aten::add: self + alpha * other, broadcast, or a number in place of other.
// float32, int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kAlpha, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttso="));
  RT_TRY(expect_number(args, kOut));
  RT_TRY(expect_type(args, {kSelf, kOther}, args.tensor(kOut).type()));
  RT_TRY(expect_number_of(args, kAlpha, args.tensor(kOut).type()));
  return expect_broadcast(args, {kSelf, kOther}, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T alpha = number_as<T>(args, kAlpha);
    map<T, T>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
              [=](T a, T b) { return wrapped_sum(a, wrapped_product(alpha, b)); });
  });
  return Error::kOk;
}

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tsso="));
  RT_TRY(expect_number(args, kOut));
  const ScalarType type = args.tensor(kOut).type();
  RT_TRY(expect_type(args, {kSelf}, type));
  RT_TRY(expect_number_of(args, kOther, type));
  RT_TRY(expect_number_of(args, kAlpha, type));
  return expect_same_shape(args, kSelf, kOut);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T b = number_as<T>(args, kOther);
    const T alpha = number_as<T>(args, kAlpha);
    map<T, T>(args.tensor(kSelf), args.tensor(kOut),
              [=](T a) { return wrapped_sum(a, wrapped_product(alpha, b)); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::add.out", prepare, run);
RT_KERNEL("aten::add.Scalar_out", prepare_scalar, run_scalar);

}  // namespace rt::kernels
