// aten::logit, float32: ln(x / (1 - x)), x brought into [eps, 1 - eps] where an eps is given.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kEpsilon, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tuo="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  const bool bounded = !args.is_none(kEpsilon);
  const float low = bounded ? static_cast<float>(args.number(kEpsilon)) : 0.0F;
  const float high = 1.0F - low;
  map<float, float>(args.tensor(kInput), args.tensor(kOut), [=](float x) {
    if (bounded && x < low) x = low;
    if (bounded && x > high) x = high;
    return std::log(x / (1.0F - x));
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::logit.out", prepare, run);

}  // namespace rt::kernels
