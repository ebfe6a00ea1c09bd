// aten::where: self where the condition holds, else other, broadcast. Any type.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kCondition, kSelf, kOther, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttto="));
  RT_TRY(expect_type(args, {kCondition}, ScalarType::kBool));
  RT_TRY(expect_type(args, {kSelf, kOther}, args.tensor(kOut).type()));
  return expect_broadcast(args, {kCondition, kSelf, kOther}, kOut);
}

template <typename T>
void choose(Lane condition, Lane a, Lane b, OutLane y, int32_t count, const void *) {
  for (int32_t i = 0; i < count; ++i, condition.next(), a.next(), b.next(), y.next()) {
    y.at<T>() = condition.at<uint8_t>() != 0 ? a.at<T>() : b.at<T>();
  }
}

Error run(const Args &args, std::span<std::byte>) {
  Tensor &out = args.tensor(kOut);
  const uint32_t bytes = element_bytes(out.type());
  const TernaryRow row = bytes == 1   ? choose<uint8_t>
                         : bytes == 2 ? choose<uint16_t>
                         : bytes == 4 ? choose<uint32_t>
                                      : choose<uint64_t>;
  walk_rows(args.tensor(kCondition), args.tensor(kSelf), args.tensor(kOther), out, row, nullptr);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::where.self_out", prepare, run);

}  // namespace rt::kernels
