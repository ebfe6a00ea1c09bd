// cortex_m::quantized_linear.dsp1: weights packed for the DSP extension (packed.hpp), row by row.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/dsp/packed.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kKernelSum,
  kInputOffset,
  kFilterOffset,
  kOutputOffset,
  kMultipliers,
  kShifts,
  kActivationMax,
  kActivationMin,
  kOut,
};

constexpr int32_t kGroup = 3;  // channels that rt_dsp_packed1 takes at once

// No other kernel reads these weights: what is not as the packer writes it is refused.
Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_linear(args, needs));
  const Tensor& weight = args.tensor(kWeight);
  const int32_t depth = weight.size(1);
  const bool packed = reads_as_packed(weight, args.optional_tensor(kBias), depth) &&
                      args.is_none(kKernelSum) && weight.size(0) >= kGroup;
  if (!packed) return args.refuse(kWeight, Error::kArgumentValue);
  if (args.integer(kFilterOffset) != 0) return args.refuse(kFilterOffset, Error::kArgumentValue);
  if (!scale_fits(args.list(kShifts)[0])) return args.refuse(kShifts, Error::kArgumentValue);
  needs.temporary_bytes = 2 * static_cast<uint32_t>(depth);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& weight = args.tensor(kWeight);
  const int32_t depth = weight.size(1);
  const int32_t outputs = weight.size(0);
  const int32_t last = outputs - kGroup;  // a last group overlaps the one before it
  int32_t* const activations = reinterpret_cast<int32_t*>(temporary.data());
  const PackedQuads quads(-args.integer(kInputOffset));
  Packed1 dot = {};
  dot.activations = activations;
  dot.octets = depth / kPackedStep;
  dot.depth = depth;
  dot.multiplier = args.list(kMultipliers)[0];
  dot.shift = args.list(kShifts)[0];
  dot.rounding = rounding_of(args.integer(kOutputOffset));
  const int8_t* in = args.tensor(kInput).as<int8_t>();
  Tensor& out_tensor = args.tensor(kOut);
  int8_t* out = out_tensor.as<int8_t>();
  for (const int8_t* const end = out + out_tensor.numel(); out != end;
       in += depth, out += outputs) {
    widen<1>(activations, in, depth / 4, quads);
    dot.bias = args.tensor(kBias).as<int32_t>();
    dot.out = out;
    dot.groups = outputs / kGroup;
    rt_dsp_packed1(&dot, weight.as<int8_t>());
    if (outputs % kGroup == 0) continue;
    dot.bias += last;
    dot.out = out + last;
    dot.groups = 1;
    rt_dsp_packed1(&dot, weight.as<int8_t>() + last * depth);
  }
  clamp_bytes(out_tensor.as<int8_t>(), out_tensor.numel(), args.integer(kActivationMin),
              args.integer(kActivationMax));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_linear.dsp1", prepare, run);

}  // namespace rt::kernels::dsp
