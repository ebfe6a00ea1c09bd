// aten::masked_fill: a number where the mask holds, else self, broadcast.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kMask, kValue, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttso="));
  RT_TRY(expect_known(args, kSelf));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kSelf).type()));
  RT_TRY(expect_type(args, {kMask}, ScalarType::kBool));
  RT_TRY(expect_number_of(args, kValue, args.tensor(kSelf).type()));
  return expect_broadcast(args, {kSelf, kMask}, kOut);
}

template <typename T>
void fill(Lane x, Lane mask, OutLane y, int32_t count, const void *value) {
  const T filled = *static_cast<const T *>(value);
  for (int32_t i = 0; i < count; ++i, x.next(), mask.next(), y.next()) {
    y.at<T>() = mask.at<uint8_t>() != 0 ? filled : x.at<T>();
  }
}

Error run(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(kSelf).type(), [&]<typename T>(T) {
    const T value = number_as<T>(args, kValue);
    walk_rows(args.tensor(kSelf), args.tensor(kMask), args.tensor(kOut), fill<T>, &value);
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::masked_fill.Scalar_out", prepare, run);

}  // namespace rt::kernels
