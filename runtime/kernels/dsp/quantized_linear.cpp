// cortex_m::quantized_linear with the DSP extension: five rows at a time, or one.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/dsp/dot.hpp"
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

constexpr int32_t kGroup = 3;  // channels that rt_dsp_dot1 takes at once
constexpr int32_t kNoBias = 0;

struct Linear {
  int32_t depth, outputs, rows;
  const int8_t* weights;
  const Tensor* addend;  // bias or kernel sum
  AddedQuads quads;      // the kernel sum has the offset already

  explicit Linear(const Args& args) {
    const Tensor& weight = args.tensor(kWeight);
    const bool summed = !args.is_none(kKernelSum);
    depth = weight.size(1);
    outputs = weight.size(0);
    rows = outputs == 0 ? 0 : static_cast<int32_t>(args.tensor(kOut).numel()) / outputs;
    weights = weight.as<int8_t>();
    addend = args.optional_tensor(summed ? kKernelSum : kBias);
    quads = {both(summed ? 0 : args.integer(kInputOffset))};
  }

  bool by_five() const { return rows >= kRows; }
  bool by_groups() const {
    return addend != nullptr && depth % 4 == 0 && reinterpret_cast<uintptr_t>(weights) % 4 == 0 &&
           outputs >= kGroup;
  }
  uint32_t activations_bytes() const {
    return static_cast<uint32_t>((by_five() ? kRows : 1) * 2 * round_up_to_quad(depth));
  }
};

bool suits(const Args& args, const Linear& linear) {
  if (args.integer(kFilterOffset) != 0 || !scale_fits(args.list(kShifts)[0])) return false;
  return sums_fit(linear.addend, linear.depth);
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_linear(args, needs));
  const Linear linear(args);
  if (suits(args, linear)) needs.temporary_bytes = linear.activations_bytes();
  return Error::kOk;
}

void multiply_by_five(const Linear& linear, Dot5 dot, const int8_t* in, int8_t* out,
                      int32_t* activations) {
  dot.activations = activations;
  dot.out_stride = linear.outputs;
  dot.channels = linear.outputs;
  dot.quads = linear.depth >> 2;
  dot.tail = linear.depth & 3;
  for (int32_t done = 0; done < linear.rows; done += kRows) {
    if (done + kRows > linear.rows) done = linear.rows - kRows;
    for (int32_t row = 0; row < kRows; ++row) {
      widen_row<kRows>(activations + row, in + (done + row) * linear.depth, linear.depth,
                       linear.quads);
    }
    dot.out = out + done * linear.outputs;
    rt_dsp_dot5(&dot, linear.weights);
  }
}

void multiply_groups(const Linear& linear, Dot1 dot, int8_t* out, const int32_t* activations) {
  dot.activations = activations;
  dot.depth = linear.depth;
  dot.out = out;
  dot.groups = linear.outputs / kGroup;
  rt_dsp_dot1(&dot, linear.weights);
  if (linear.outputs % kGroup == 0) return;
  const int32_t last = linear.outputs - kGroup;  // the last group overlaps the one before it
  dot.out = out + last;
  dot.groups = 1;
  dot.bias += last;
  rt_dsp_dot1(&dot, linear.weights + last * linear.depth);
}

void multiply_any(const Linear& linear, const Dot1& dot, int8_t* out, const int32_t* activations) {
  const int32_t quads = linear.depth >> 2;
  const int32_t tail = linear.depth & 3;
  const int8_t* weights = linear.weights;
  for (int32_t o = 0; o < linear.outputs; ++o) {
    int32_t sum = dot.bias == nullptr ? 0 : dot.bias[o];
    const int32_t* pair = activations;
    const auto add = [&](uint32_t word) {
      sum = multiply_pairs(pair[0], widen_even(0, word), sum);
      sum = multiply_pairs(pair[1], widen_odd(0, word), sum);
      pair += 2;
    };
    for (const int8_t* const end = weights + 4 * quads; weights != end; weights += 4) {
      add(load_word(weights));
    }
    if (tail != 0) add(load_tail(weights, tail));
    weights += tail;
    *out++ =
        static_cast<int8_t>(requantize_doubled(2 * sum, dot.multiplier, ~dot.shift, dot.rounding));
  }
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Linear linear(args);
  if (!suits(args, linear)) return rt_fallback_quantized_linear(args, temporary);
  int32_t* const activations = reinterpret_cast<int32_t*>(temporary.data());
  const int32_t multiplier = args.list(kMultipliers)[0];
  const int32_t shift = args.list(kShifts)[0];
  const int32_t rounding = rounding_of(args.integer(kOutputOffset));
  const int32_t* const bias = linear.addend == nullptr ? nullptr : linear.addend->as<int32_t>();
  const int8_t* in = args.tensor(kInput).as<int8_t>();
  Tensor& out_tensor = args.tensor(kOut);
  int8_t* out = out_tensor.as<int8_t>();
  if (linear.by_five()) {
    Dot5 dot = {};
    dot.bias = bias == nullptr ? &kNoBias : bias;
    dot.bias_step = bias == nullptr ? 0 : sizeof(int32_t);
    dot.multipliers = &multiplier;
    dot.shifts = &shift;
    dot.rounding = rounding;
    multiply_by_five(linear, dot, in, out, activations);
  } else {
    Dot1 dot = {};
    dot.bias = bias;
    dot.multiplier = multiplier;
    dot.shift = shift;
    dot.rounding = rounding;
    for (int32_t row = 0; row < linear.rows; ++row, in += linear.depth, out += linear.outputs) {
      widen_row<1>(activations, in, linear.depth, linear.quads);
      if (linear.by_groups()) {
        multiply_groups(linear, dot, out, activations);
      } else {
        multiply_any(linear, dot, out, activations);
      }
    }
  }
  clamp_bytes(out_tensor.as<int8_t>(), out_tensor.numel(), args.integer(kActivationMin),
              args.integer(kActivationMax));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_linear.out", prepare, run);

}  // namespace rt::kernels::dsp
