// aten::div, float32: quotients, exact or rounded ("floor", "trunc"), by a
// tensor or a number.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/floor_division.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kMode };

float quotient(float a, float b) { return a / b; }

float truncated(float a, float b) { return std::trunc(a / b); }

using Divide = float (*)(float, float);

// @return nullptr for a mode that torch does not have.
Divide division(const Args &args) {
  if (args.is_none(kMode)) return quotient;
  if (args.text(kMode) == "floor") return floored_quotient;
  return args.text(kMode) == "trunc" ? truncated : nullptr;
}

Error prepare_mode(Args &args, Needs &) {
  RT_TRY(args.match(args.count() == 5 && args.is_none(kMode) ? "tt_o=" : "ttxo="));
  if (division(args) == nullptr) return args.refuse(kMode, Error::kArgumentValue);
  RT_TRY(expect_type(args, {kSelf, kOther, 3}, ScalarType::kFloat));
  return expect_broadcast(args, {kSelf, kOther}, 3);
}

Error run_mode(const Args &args, std::span<std::byte>) {
  map<float, float>(args.tensor(kSelf), args.tensor(kOther), args.tensor(3), division(args));
  return Error::kOk;
}

Error check_scalar(Args &args, uint32_t out) {
  RT_TRY(expect_type(args, {kSelf, out}, ScalarType::kFloat));
  return expect_same_shape(args, kSelf, out);
}

Error prepare_scalar(Args &args, Needs &) {
  RT_TRY(args.match("tso="));
  return check_scalar(args, 2);
}

Error run_scalar(const Args &args, std::span<std::byte>) {
  const auto b = static_cast<float>(args.number(kOther));
  map<float, float>(args.tensor(kSelf), args.tensor(2), [=](float a) { return a / b; });
  return Error::kOk;
}

Error prepare_scalar_mode(Args &args, Needs &) {
  RT_TRY(args.match(args.count() == 5 && args.is_none(kMode) ? "ts_o=" : "tsxo="));
  if (division(args) == nullptr) return args.refuse(kMode, Error::kArgumentValue);
  return check_scalar(args, 3);
}

Error run_scalar_mode(const Args &args, std::span<std::byte>) {
  const auto b = static_cast<float>(args.number(kOther));
  const Divide divide = division(args);
  map<float, float>(args.tensor(kSelf), args.tensor(3), [=](float a) { return divide(a, b); });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::div.out", prepare_float_pair, run_float_pair<quotient>);
RT_KERNEL("aten::div.out_mode", prepare_mode, run_mode);
RT_KERNEL("aten::div.Scalar_out", prepare_scalar, run_scalar);
RT_KERNEL("aten::div.Scalar_mode_out", prepare_scalar_mode, run_scalar_mode);

}  // namespace rt::kernels
