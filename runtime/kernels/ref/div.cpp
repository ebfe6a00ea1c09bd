// aten::div by a tensor, broadcast, or by a number: exact quotients of float32, rounded ones
// ("floor", "trunc") of int32 and int64 too.

#include "runtime/kernels/floor_division.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kMode, kOut };

float quotient(float a, float b) { return a / b; }

bool is_floor(const Args &args) { return args.text(kMode) == "floor"; }

Error check_mode(Args &args) {
  RT_TRY(expect_number(args, kOut));
  RT_TRY(expect_type(args, {kSelf}, args.tensor(kOut).type()));
  if (args.is_none(kMode)) return expect_type(args, {kOut}, ScalarType::kFloat);
  const bool known = is_floor(args) || args.text(kMode) == "trunc";
  return known ? Error::kOk : args.refuse(kMode, Error::kArgumentValue);
}

Error prepare_mode(Args &args, Needs &) {
  RT_TRY(args.match(args.count() == 5 && args.is_none(kMode) ? "tt_o=" : "ttxo="));
  RT_TRY(check_mode(args));
  RT_TRY(expect_type(args, {kOther}, args.tensor(kOut).type()));
  return expect_broadcast(args, {kSelf, kOther}, kOut);
}

template <typename Function>
void divide(const Args &args, Function function) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    map<T, T>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), function);
  });
}

Error run_mode(const Args &args, std::span<std::byte>) {
  if (args.is_none(kMode)) {
    map<float, float>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
                      [](float a, float b) { return a / b; });
  } else if (is_floor(args)) {
    divide(args, FloorDivide());
  } else {
    divide(args, TruncDivide());
  }
  return Error::kOk;
}

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_type(args, {kSelf, 2}, ScalarType::kFloat));
  return expect_same_shape(args, kSelf, 2);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  const auto b = static_cast<float>(args.number(kOther));
  map<float, float>(args.tensor(kSelf), args.tensor(2), [=](float a) { return a / b; });
  return Error::kOk;
}

Error prepare_scalar_mode(Args &args, Needs &) {
  RT_TRY(args.match(args.count() == 5 && args.is_none(kMode) ? "ts_o=" : "tsxo="));
  RT_TRY(check_mode(args));
  RT_TRY(expect_number_of(args, kOther, args.tensor(kOut).type()));
  return expect_same_shape(args, kSelf, kOut);
}

template <typename Function>
void divide_by_number(const Args &args, Function function) {
  for_number_type(args.tensor(kOut).type(), [&]<typename T>(T) {
    const T b = number_as<T>(args, kOther);
    map<T, T>(args.tensor(kSelf), args.tensor(kOut), [=](T a) { return function(a, b); });
  });
}

Error run_scalar_mode(const Args &args, std::span<std::byte>) {
  if (args.is_none(kMode)) {
    const auto b = static_cast<float>(args.number(kOther));
    map<float, float>(args.tensor(kSelf), args.tensor(kOut), [=](float a) { return a / b; });
  } else if (is_floor(args)) {
    divide_by_number(args, FloorDivide());
  } else {
    divide_by_number(args, TruncDivide());
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::div.out", prepare_float_pair, run_float_pair<quotient>);
RT_KERNEL("aten::div.out_mode", prepare_mode, run_mode);
RT_KERNEL("aten::div.Scalar_out", prepare_scalar, run_scalar);
RT_KERNEL("aten::div.Scalar_mode_out", prepare_scalar_mode, run_scalar_mode);

}  // namespace rt::kernels
