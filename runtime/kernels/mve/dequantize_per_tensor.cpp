// cortex_m::dequantize_per_tensor with Helium's floating point.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_dequantize_per_tensor(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  const Scaling scaling = {static_cast<float>(args.number(kScale)), args.integer(kZeroPoint)};
  if (!(scaling.factor >= 1.0F / kLargestFactor)) {
    return rt_fallback_dequantize_per_tensor(args, temporary);
  }
  rt_mve_dequantize(input.as<int8_t>(), args.tensor(kOut).as<float>(), input.numel(), &scaling);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::dequantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels::mve
