// cortex_m::quantize_per_tensor with Helium's floating point, sixteen floats at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/elementwise.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scale.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

constexpr uint32_t kBlock = 16;

Error prepare(Args& args, Needs& needs) { return rt_checks_quantize_per_tensor(args, needs); }

// @return whether no input was a NaN.
bool quantize(const float* in, int8_t* out, uint32_t count, const Scaling& scaling) {
  if (rt_mve_quantize(in, out, count / kBlock, &scaling) != 0) return false;
  if (count % kBlock == 0) return true;
  const uint32_t last = count - kBlock;  // the last block overlaps the one before it
  return rt_mve_quantize(in + last, out + last, 1, &scaling) == 0;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  const Scaling scaling = {inverse_of(args.number(kScale)), args.integer(kZeroPoint)};
  // In place, what is read again (behind a NaN, in the last block) would have been written.
  const bool in_place = input.data() == args.tensor(kOut).data();
  const bool suits = !in_place && args.integer(kMin) == -128 && args.integer(kMax) == 127 &&
                     input.numel() >= kBlock && scaling.factor <= kLargestFactor;
  if (suits &&
      quantize(input.as<float>(), args.tensor(kOut).as<int8_t>(), input.numel(), scaling)) {
    return Error::kOk;
  }
  return rt_fallback_quantize_per_tensor(args, temporary);
}

}  // namespace

RT_KERNEL("cortex_m::quantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels::mve
