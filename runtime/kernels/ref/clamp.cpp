// aten::clamp, float32; either bound may be None.

#include <limits>

#include "runtime/kernels/float_unary.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kMin, kMax, kOut };

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tuuo="));
  return check_float_unary(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  const float low = args.is_none(kMin) ? -kInfinity : static_cast<float>(args.number(kMin));
  const float high = args.is_none(kMax) ? kInfinity : static_cast<float>(args.number(kMax));
  float_unary(args.tensor(kInput), args.tensor(kOut),
              [=](float value) { return clamp_float(value, low, high); });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::clamp.out", prepare, run);

}  // namespace rt::kernels
