// Comparisons of tensors with tensors and numbers; the result is bool.
#pragma once

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {

inline Error prepare_comparison(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_known(args, 0));
  RT_TRY(expect_type(args, {1}, args.tensor(0).type()));
  RT_TRY(expect_type(args, {2}, ScalarType::kBool));
  return expect_broadcast(args, {0, 1}, 2);
}
template <typename Function>
Error run_comparison(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(0).type(), [&]<typename T>(T) {
    map<T, bool>(args.tensor(0), args.tensor(1), args.tensor(2), Function());
  });
  return Error::kOk;
}

inline Error prepare_comparison_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_known(args, 0));
  RT_TRY(expect_type(args, {2}, ScalarType::kBool));
  return expect_same_shape(args, 0, 2);
}
template <typename Function>
Error run_comparison_scalar(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(0).type(), [&]<typename T>(T) {
    if (args.is_double(1)) {
      // Integers are compared with a fraction as floats, as torch does.
      const auto number = static_cast<float>(args.number(1));
      map<T, bool>(args.tensor(0), args.tensor(2),
                   [=](T x) { return Function()(static_cast<float>(x), number); });
    } else {
      const int32_t number = args.integer(1);
      map<T, bool>(args.tensor(0), args.tensor(2), [=](T x) {
        using Common = std::conditional_t<std::is_same_v<T, float>, float,
                                          std::conditional_t<sizeof(T) == 8, int64_t, int32_t>>;
        return Function()(static_cast<Common>(x), static_cast<Common>(number));
      });
    }
  });
  return Error::kOk;
}

}  // namespace rt::kernels
