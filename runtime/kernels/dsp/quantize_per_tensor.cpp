// cortex_m::quantize_per_tensor with the DSP extension and an FPU, sixteen floats at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scale.hpp"

namespace rt::kernels::dsp {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

constexpr uint32_t kBlock = 16;

struct Quantization {
  float inverse_scale;
  int32_t zero_point;
};

#ifdef __ARM_FP
extern "C" {
// Rounds by VCVTR, which takes FPSCR's mode: to nearest, ties to even, unless somebody changed it.
// Saturation at both conversions makes infinities the bounds.
// @return how many blocks were left, the first of them with a NaN.
uint32_t rt_dsp_quantize(const float* in, int8_t* out, uint32_t blocks,
                         const Quantization* quantization);
}
#else
uint32_t rt_dsp_quantize(const float*, int8_t*, uint32_t blocks, const Quantization*) {
  return blocks;
}
#endif

Error prepare(Args& args, Needs& needs) { return rt_checks_quantize_per_tensor(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(kInput);
  const uint32_t count = input.numel();
  // In place, what is read again (behind a NaN, in the last block) would have been written.
  const bool in_place = input.data() == args.tensor(kOut).data();
  if (!in_place && args.integer(kMin) == -128 && args.integer(kMax) == 127 && count >= kBlock) {
    const Quantization quantization = {inverse_of(args.number(kScale)), args.integer(kZeroPoint)};
    const float* in = input.as<float>();
    int8_t* out = args.tensor(kOut).as<int8_t>();
    uint32_t left = rt_dsp_quantize(in, out, count / kBlock, &quantization);
    if (left == 0 && count % kBlock != 0) {
      const uint32_t last = count - kBlock;  // the last block overlaps the one before it
      left = rt_dsp_quantize(in + last, out + last, 1, &quantization);
    }
    if (left == 0) return Error::kOk;
  }
  return rt_fallback_quantize_per_tensor(args, temporary);
}

}  // namespace

RT_KERNEL("cortex_m::quantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels::dsp
