// aten::pow, float32: powers of tensors and numbers.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float power(float a, float b) { return std::pow(a, b); }

Error check(Args &args, uint32_t tensor) {
  RT_TRY(expect_type(args, {tensor, 2}, ScalarType::kFloat));
  return expect_same_shape(args, tensor, 2);
}

Error prepare_tensor_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  return check(args, 0);
}

Error run_tensor_scalar(const Args &args, std::span<std::byte>) {
  const auto exponent = static_cast<float>(args.number(1));
  const Tensor &base = args.tensor(0);
  // What norms and variances are made of; torch computes them so too.
  if (exponent == 2.0F) {
    map<float, float>(base, args.tensor(2), [](float x) { return x * x; });
  } else if (exponent == 0.5F) {
    map<float, float>(base, args.tensor(2), [](float x) { return std::sqrt(x); });
  } else {
    map<float, float>(base, args.tensor(2), [=](float x) { return std::pow(x, exponent); });
  }
  return Error::kOk;
}

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("sto="));
  return check(args, 1);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  const auto base = static_cast<float>(args.number(0));
  map<float, float>(args.tensor(1), args.tensor(2), [=](float x) { return std::pow(base, x); });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::pow.Tensor_Tensor_out", prepare_float_pair, run_float_pair<power>);
RT_KERNEL("aten::pow.Tensor_Scalar_out", prepare_tensor_scalar, run_tensor_scalar);
RT_KERNEL("aten::pow.Scalar_out", prepare_scalar, run_scalar);

}  // namespace rt::kernels
