// cortex_m::quantized_linear with Helium: three rows at a time, or one.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/mve/dot.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
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

constexpr int32_t kNoBias = 0;

struct Linear {
  int32_t depth, outputs, rows;
  const int8_t* weights;
  const Tensor* bias;
  const Tensor* kernel_sum;  // the folded bias, if the program has it

  explicit Linear(const Args& args)
      : depth(args.tensor(kWeight).size(1)),
        outputs(args.tensor(kWeight).size(0)),
        rows(outputs == 0 ? 0 : static_cast<int32_t>(args.tensor(kOut).numel()) / outputs),
        weights(args.tensor(kWeight).as<int8_t>()),
        bias(args.optional_tensor(kBias)),
        kernel_sum(args.optional_tensor(kKernelSum)) {}
  int32_t folded_bytes() const { return kernel_sum == nullptr ? outputs * 4 : 0; }
  // For rows that are there to make three.
  int32_t spare_bytes() const { return rows > 1 ? (outputs + 3) & ~3 : 0; }
};

bool suits(const Args& args, const Linear& linear) {
  return args.integer(kFilterOffset) == 0 && linear.depth > 0 && linear.outputs >= kChannels &&
         scale_fits(args.list(kShifts)[0]);
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_linear(args, needs));
  const Linear linear(args);
  if (suits(args, linear)) {
    needs.temporary_bytes = static_cast<uint32_t>(linear.folded_bytes() + linear.spare_bytes());
  }
  return Error::kOk;
}

// The outputs in fours; the last four are done again as far as they were done.
template <typename Multiply>
void for_all_outputs(int32_t outputs, Multiply multiply) {
  multiply(0, outputs & ~3);
  if ((outputs & 3) != 0) multiply(outputs - kChannels, kChannels);
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Linear linear(args);
  if (!suits(args, linear)) return rt_fallback_quantized_linear(args, temporary);
  const int32_t multiplier = args.list(kMultipliers)[0];
  const int32_t shift = args.list(kShifts)[0];
  const int32_t offset = args.integer(kOutputOffset);
  const int32_t low = args.integer(kActivationMin);
  const int32_t high = args.integer(kActivationMax);
  const int32_t* folded = nullptr;
  if (linear.kernel_sum != nullptr) {
    folded = linear.kernel_sum->as<int32_t>();
  } else {
    const Fold fold = {linear.depth, linear.outputs, args.integer(kInputOffset),
                       linear.bias == nullptr ? 0 : 4};
    int32_t* const scratch = reinterpret_cast<int32_t*>(temporary.data());
    rt_mve_fold_offset(linear.bias == nullptr ? &kNoBias : linear.bias->as<int32_t>(),
                       linear.weights, scratch, &fold);
    folded = scratch;
  }
  const int8_t* in = args.tensor(kInput).as<int8_t>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  if (linear.rows == 1) {
    for_all_outputs(linear.outputs, [&](int32_t first, int32_t count) {
      const Dot1 dot = {in,     linear.depth, folded + first, multiplier,  shift,
                        offset, low,          high,           out + first, count};
      rt_mve_dot1(&dot, linear.weights + first * linear.depth);
    });
    return Error::kOk;
  }
  int8_t* const spare = reinterpret_cast<int8_t*>(temporary.data()) + linear.folded_bytes();
  const int32_t multipliers[] = {multiplier, multiplier, multiplier, multiplier};
  const int32_t shifts[] = {shift, shift, shift, shift};
  for (int32_t row = 0; row < linear.rows; row += kPixels) {
    for_all_outputs(linear.outputs, [&](int32_t first, int32_t count) {
      Dot3 dot = {{}, linear.depth, {},    folded + first, multipliers, shifts,
                  0,  {},           count, offset,         low,         high};
      for (int32_t i = 0; i < kPixels; ++i) {
        const bool there = row + i < linear.rows;
        dot.activations[i] = in + (there ? row + i : row) * linear.depth;
        dot.out[i] = there ? out + (row + i) * linear.outputs + first : spare;
      }
      rt_mve_dot3(&dot, linear.weights + first * linear.depth);
    });
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_linear.out", prepare, run);

}  // namespace rt::kernels::mve
