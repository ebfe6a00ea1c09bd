// aten::mul, broadcast, or by a number. float32, int32, int64.

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

struct Product {
  template <typename T>
  T operator()(T a, T b) const {
    return wrapped_product(a, b);
  }
};

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_number(args, kOut));
  RT_TRY(expect_type(args, {kSelf}, args.tensor(kOut).type()));
  RT_TRY(expect_number_of(args, kOther, args.tensor(kOut).type()));
  return expect_same_shape(args, kSelf, kOut);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T b = number_as<T>(args, kOther);
    map<T, T>(args.tensor(kSelf), args.tensor(kOut), [=](T a) { return wrapped_product(a, b); });
  });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(mul, "aten::mul.out", prepare_number_pair, run_number_pair<Product>);
RT_KERNEL("aten::mul.Scalar_out", prepare_scalar, run_scalar);

}  // namespace rt::kernels
