// aten::_softmax.out along the dimension that lies innermost.

#include "runtime/kernels/fpu/float_softmax.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

Error prepare(Args& args, Needs& needs) { return rt_checks_float_softmax(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!are_rows(args)) return rt_fallback_float_softmax(args, temporary);
  for_rows(args, [](const float* x, float* out, int32_t count) {
    const float factor = 1.0F / powers<true>(x, out, count, largest(x, count));
    map_floats(out, out, count, [=](Vector power) { return multiply(power, all(factor)); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_softmax.out", prepare, run);

}  // namespace rt::kernels::fpu
