// aten::sub, float32: self - alpha * other, broadcast.

#include "runtime/kernels/float_binary.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kAlpha, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttso="));
  return check_float_binary(args, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  const auto alpha = static_cast<float>(args.number(kAlpha));
  elementwise<float>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
                     [=](float a, float b) { return a - alpha * b; });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::sub.out", prepare, run);

}  // namespace rt::kernels
