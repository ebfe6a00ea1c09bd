// aten::_log_softmax.out along the dimension that lies innermost.

#include <cmath>

#include "runtime/kernels/fpu/float_softmax.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

Error prepare(Args& args, Needs& needs) { return rt_checks_float_log_softmax(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!are_rows(args)) return rt_fallback_float_log_softmax(args, temporary);
  for_rows(args, [](const float* x, float* out, int32_t count) {
    const float most = largest(x, count);
    const float log_sum = std::log(powers<false>(x, nullptr, count, most));
    map_floats(x, out, count,
               [=](Vector value) { return subtract(subtract(value, all(most)), all(log_sum)); });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_log_softmax.out", prepare, run);

}  // namespace rt::kernels::fpu
