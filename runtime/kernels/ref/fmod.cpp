// aten::fmod, broadcast, or by a number: the remainder with the sign of self.
// float32, int32, int64.
//
// An integer divided by 0 gives 0 (torch refuses it).

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

struct Remainder {
  float operator()(float a, float b) const { return std::fmod(a, b); }
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0 || b == -1) return 0;
    return a % b;
  }
};

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_number(args, 2));
  RT_TRY(expect_type(args, {0}, args.tensor(2).type()));
  RT_TRY(expect_number_of(args, 1, args.tensor(2).type()));
  return expect_same_shape(args, 0, 2);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(2).type(), [&]<typename T>(T) {
    const T b = number_as<T>(args, 1);
    map<T, T>(args.tensor(0), args.tensor(2), [=](T a) { return Remainder()(a, b); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::fmod.Tensor_out", prepare_number_pair, run_number_pair<Remainder>);
RT_KERNEL("aten::fmod.Scalar_out", prepare_scalar, run_scalar);

}  // namespace rt::kernels
