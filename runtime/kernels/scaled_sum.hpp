// aten::add, sub and rsub: self and other, one of them times alpha, summed. float32, int32, int64.
//
// Rule::of(self, other, alpha) is the sum of a pair; integers wrap as in two's complement.

#pragma once

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels::scaled_sum {

enum Argument : uint32_t { kSelf, kOther, kAlpha, kOut };

inline Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttso="));
  RT_TRY(expect_number(args, kOut));
  RT_TRY(expect_type(args, {kSelf, kOther}, args.tensor(kOut).type()));
  RT_TRY(expect_number_of(args, kAlpha, args.tensor(kOut).type()));
  return expect_broadcast(args, {kSelf, kOther}, kOut);
}

inline Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tsso="));
  RT_TRY(expect_number(args, kOut));
  const ScalarType type = args.tensor(kOut).type();
  RT_TRY(expect_type(args, {kSelf}, type));
  RT_TRY(expect_number_of(args, kOther, type));
  RT_TRY(expect_number_of(args, kAlpha, type));
  return expect_same_shape(args, kSelf, kOut);
}

template <typename Rule>
Error run(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T alpha = number_as<T>(args, kAlpha);
    map<T, T>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
              [=](T a, T b) { return Rule::of(a, b, alpha); });
  });
  return Error::kOk;
}

template <typename Rule>
Error run_scalar(const Args &args, std::span<std::byte>) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T b = number_as<T>(args, kOther);
    const T alpha = number_as<T>(args, kAlpha);
    map<T, T>(args.tensor(kSelf), args.tensor(kOut), [=](T a) { return Rule::of(a, b, alpha); });
  });
  return Error::kOk;
}

}  // namespace rt::kernels::scaled_sum
