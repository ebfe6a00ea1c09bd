// cortex_m::quantized_linear without the DSP extension: five rows meet a row of weights, or one row
// four of them.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scalar/dot.hpp"
#include "runtime/kernels/scalar/requantize.hpp"

namespace rt::kernels::scalar {
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

// From so many rows on, five at a time take less than one after another, though some are missing.
constexpr int32_t kFewRows = 4;

struct Linear {
  int32_t depth, outputs, rows, input_offset;
  const int8_t* weights;
  const int32_t* addend;  // bias or kernel sum, which has the offset already; nullptr for none

  explicit Linear(const Args& args) {
    const Tensor& weight = args.tensor(kWeight);
    const bool summed = !args.is_none(kKernelSum);
    depth = weight.size(1);
    outputs = weight.size(0);
    rows = outputs == 0 ? 0 : static_cast<int32_t>(args.tensor(kOut).numel()) / outputs;
    input_offset = summed ? 0 : args.integer(kInputOffset);
    weights = weight.as<int8_t>();
    const Tensor* const tensor = args.optional_tensor(summed ? kKernelSum : kBias);
    addend = tensor == nullptr ? nullptr : tensor->as<int32_t>();
  }

  bool by_five() const { return rows >= kFewRows; }
  int32_t addend_of(int32_t output) const { return addend == nullptr ? 0 : addend[output]; }
  uint32_t activations_bytes() const {
    return static_cast<uint32_t>((by_five() ? kRows : 1) * depth) * sizeof(int32_t);
  }
};

bool suits(const Args& args, const Linear& linear) {
  return args.integer(kFilterOffset) == 0 && args.list(kShifts)[0] < 0 && linear.depth > 0 &&
         (linear.by_five() || linear.outputs >= kChannels);
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_linear(args, needs));
  const Linear linear(args);
  if (suits(args, linear)) needs.temporary_bytes = linear.activations_bytes();
  return Error::kOk;
}

void multiply_five(const Linear& linear, const Requantization& requantize, const int8_t* in,
                   int8_t* out, int32_t rows, int32_t* activations) {
  for (int32_t row = 0; row < rows; ++row, in += linear.depth) {
    widen<kRows>(activations + row, in, linear.depth, linear.input_offset);
  }
  const int8_t* weights = linear.weights;
  for (int32_t o = 0; o < linear.outputs; ++o, weights += linear.depth) {
    int32_t sums[kRows];
    rt_scalar_dot5(activations, weights, linear.depth, sums);
    int8_t* to = out + o;
    for (int32_t row = 0; row < rows; ++row, to += linear.outputs) {
      *to = requantize(wrapping_add(sums[row], linear.addend_of(o)));
    }
  }
}

void multiply_row(const Linear& linear, const Requantization& requantize, const int8_t* in,
                  int8_t* out, int32_t* activations) {
  widen<1>(activations, in, linear.depth, linear.input_offset);
  for (int32_t o = 0; o < linear.outputs; o += kChannels) {
    // The last four overlap those before them.
    if (o + kChannels > linear.outputs) o = linear.outputs - kChannels;
    int32_t sums[kChannels];
    rt_scalar_dot1(activations, linear.weights + o * linear.depth, linear.depth, sums);
    for (int32_t i = 0; i < kChannels; ++i) {
      out[o + i] = requantize(wrapping_add(sums[i], linear.addend_of(o + i)));
    }
  }
}

Error run(const Args& args, std::span<std::byte> temporary) {
  const Linear linear(args);
  if (!suits(args, linear)) return rt_fallback_quantized_linear(args, temporary);
  int32_t* const activations = reinterpret_cast<int32_t*>(temporary.data());
  const Requantization requantize(args.list(kMultipliers)[0], args.list(kShifts)[0],
                                  args.integer(kOutputOffset), args.integer(kActivationMin),
                                  args.integer(kActivationMax));
  const int8_t* in = args.tensor(kInput).as<int8_t>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  const int32_t step = linear.by_five() ? kRows : 1;
  for (int32_t done = 0; done < linear.rows; done += step) {
    if (linear.by_five()) {
      const int32_t rows = linear.rows - done < kRows ? linear.rows - done : kRows;
      multiply_five(linear, requantize, in, out, rows, activations);
    } else {
      multiply_row(linear, requantize, in, out, activations);
    }
    in += step * linear.depth;
    out += step * linear.outputs;
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_linear.out", prepare, run);

}  // namespace rt::kernels::scalar
