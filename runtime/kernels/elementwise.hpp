// What the portable elementwise kernels share: checks, types, and kernels made
// of one function.
#pragma once

#include <type_traits>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/rows.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// Calls visit(T{}) with the C++ type of a numeric tensor; bool counts as
// uint8_t.
template <typename Visit>
void for_number_type(ScalarType type, Visit visit) {
  if (type == ScalarType::kFloat) return visit(float{});
  if (type == ScalarType::kInt) return visit(int32_t{});
  if (type == ScalarType::kLong) return visit(int64_t{});
}
template <typename Visit>
void for_type(ScalarType type, Visit visit) {
  if (type == ScalarType::kChar) return visit(int8_t{});
  if (type == ScalarType::kBool || type == ScalarType::kByte) return visit(uint8_t{});
  for_number_type(type, visit);
}

inline bool is_number_type(ScalarType type) {
  return type == ScalarType::kFloat || type == ScalarType::kInt || type == ScalarType::kLong;
}
inline bool is_known_type(ScalarType type) {
  return is_number_type(type) || type == ScalarType::kChar || type == ScalarType::kByte ||
         type == ScalarType::kBool;
}

inline Error expect_number(Args &args, uint32_t i) {
  return is_number_type(args.tensor(i).type()) ? Error::kOk
                                               : args.refuse(i, Error::kArgumentScalarType);
}
inline Error expect_known(Args &args, uint32_t i) {
  return is_known_type(args.tensor(i).type()) ? Error::kOk
                                              : args.refuse(i, Error::kArgumentScalarType);
}
inline Error expect_same_shape(Args &args, uint32_t a, uint32_t b) {
  return same_shape(args.tensor(a), args.tensor(b)) ? Error::kOk
                                                    : args.refuse(b, Error::kArgumentShape);
}
inline Error expect_broadcast(Args &args, std::initializer_list<uint32_t> operands, uint32_t out) {
  for (const uint32_t i : operands) {
    if (!broadcasts_to(args.tensor(i), args.tensor(out))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}
// A number that a tensor of that type holds: a fraction is none for integers.
inline Error expect_number_of(Args &args, uint32_t i, ScalarType type) {
  const bool fits = type == ScalarType::kFloat || !args.is_double(i);
  return fits ? Error::kOk : args.refuse(i, Error::kArgumentScalarType);
}
template <typename T>
T number_as(const Args &args, uint32_t i) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(args.number(i));
  return static_cast<T>(args.integer(i));
}

// Integers wrap, as torch's do.
template <typename T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  using U = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int32_t>>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename T>
T wrapped_difference(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a - b;
  using U = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int32_t>>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename T>
T wrapped_product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  using U = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int32_t>>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

// Kernels (input, out) of one float function.
inline Error prepare_float_map(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(expect_type(args, {0, 1}, ScalarType::kFloat));
  return expect_same_shape(args, 0, 1);
}
template <float (*kFunction)(float)>
Error run_float_map(const Args &args, std::span<std::byte>) {
  map<float, float>(args.tensor(0), args.tensor(1), [](float x) { return kFunction(x); });
  return Error::kOk;
}

// Kernels (a, b, out) of one float function.
inline Error prepare_float_pair(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_type(args, {0, 1, 2}, ScalarType::kFloat));
  return expect_broadcast(args, {0, 1}, 2);
}
template <float (*kFunction)(float, float)>
Error run_float_pair(const Args &args, std::span<std::byte>) {
  map<float, float>(args.tensor(0), args.tensor(1), args.tensor(2),
                    [](float a, float b) { return kFunction(a, b); });
  return Error::kOk;
}

// Kernels (a, b, out) of one function of two numbers of any type.
inline Error prepare_number_pair(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_number(args, 2));
  RT_TRY(expect_type(args, {0, 1}, args.tensor(2).type()));
  return expect_broadcast(args, {0, 1}, 2);
}
template <typename Function>
Error run_number_pair(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(2).type(), [&]<typename T>(T) {
    map<T, T>(args.tensor(0), args.tensor(1), args.tensor(2), Function());
  });
  return Error::kOk;
}

}  // namespace rt::kernels
