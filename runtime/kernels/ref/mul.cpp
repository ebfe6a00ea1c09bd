// aten::mul, float32, broadcast.

#include "runtime/kernels/float_binary.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tto="));
  return check_float_binary(args, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  elementwise<float>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
                     [](float a, float b) { return a * b; });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::mul.out", prepare, run);

}  // namespace rt::kernels
