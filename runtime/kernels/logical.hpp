// Logical and bitwise kernels of bool, uint8, int8, int32 and int64.
#pragma once

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {

inline Error prepare_logical(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_known(args, 0));
  RT_TRY(expect_type(args, {1}, args.tensor(0).type()));
  RT_TRY(expect_type(args, {2}, ScalarType::kBool));
  return expect_broadcast(args, {0, 1}, 2);
}
template <typename Function>
Error run_logical(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(0).type(), [&]<typename T>(T) {
    map<T, bool>(args.tensor(0), args.tensor(1), args.tensor(2),
                 [](T a, T b) { return Function()(a != T{}, b != T{}); });
  });
  return Error::kOk;
}

template <typename Visit>
void for_integer_type(ScalarType type, Visit visit) {
  if (type != ScalarType::kFloat) {
    for_type(type, [&]<typename T>(T zero) {
      if constexpr (std::is_integral_v<T>) visit(zero);
    });
  }
}
inline Error expect_integers(Args &args, uint32_t i) {
  RT_TRY(expect_known(args, i));
  return args.tensor(i).type() != ScalarType::kFloat ? Error::kOk
                                                     : args.refuse(i, Error::kArgumentScalarType);
}

inline Error prepare_bitwise(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_integers(args, 2));
  RT_TRY(expect_type(args, {0, 1}, args.tensor(2).type()));
  return expect_broadcast(args, {0, 1}, 2);
}
template <typename Function>
Error run_bitwise(const Args &args, std::span<std::byte>) {
  for_integer_type(args.tensor(2).type(), [&]<typename T>(T) {
    map<T, T>(args.tensor(0), args.tensor(1), args.tensor(2), Function());
  });
  return Error::kOk;
}

inline Error prepare_bitwise_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_integers(args, 2));
  RT_TRY(expect_type(args, {0}, args.tensor(2).type()));
  RT_TRY(expect_number_of(args, 1, args.tensor(2).type()));
  return expect_same_shape(args, 0, 2);
}
template <typename Function>
Error run_bitwise_scalar(const Args &args, std::span<std::byte>) {
  for_integer_type(args.tensor(2).type(), [&]<typename T>(T) {
    const auto number = static_cast<T>(args.integer(1));
    map<T, T>(args.tensor(0), args.tensor(2), [=](T x) { return Function()(x, number); });
  });
  return Error::kOk;
}

}  // namespace rt::kernels
