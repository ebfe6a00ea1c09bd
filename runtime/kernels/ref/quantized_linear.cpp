// cortex_m::quantized_linear: output[r, o] = sum over i of input[r, i] * weight[o, i], requantized.
//
// Programs for cores with Helium carry `kernel_sum` in place of `bias`: the sums of each row of
// weights times the input offset, the bias included (CMSIS-NN's arm_fully_connected_s8).

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
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

Error check_shapes(Args& args) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  RT_TRY(expect_rank(args, kWeight, 2));
  const uint32_t rank = input.rank();
  if (rank == 0 || input.size(rank - 1) != weight.size(1)) {
    return args.refuse(kInput, Error::kArgumentShape);
  }
  bool same = out.rank() == rank;
  for (uint32_t dim = 0; same && dim + 1 < rank; ++dim) same = out.size(dim) == input.size(dim);
  if (!same || out.size(rank - 1) != weight.size(0)) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  return expect_contiguous(args, {kInput, kWeight, kOut});
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttnniiilliio="));
  RT_TRY(expect_type(args, {kInput, kWeight, kOut}, ScalarType::kChar));
  RT_TRY(check_shapes(args));
  const int32_t outputs = args.tensor(kWeight).size(0);
  RT_TRY(expect_bias(args, kBias, outputs));
  RT_TRY(expect_bias(args, kKernelSum, outputs));
  RT_TRY(expect_offset(args, kInputOffset));
  RT_TRY(expect_offset(args, kFilterOffset));
  RT_TRY(expect_zero_point(args, kOutputOffset));
  RT_TRY(expect_activation(args, kActivationMin, kActivationMax));
  // The reference operator takes the first of each list, for all outputs.
  for (const uint32_t i : {kMultipliers, kShifts}) {
    if (args.list(i).count() == 0) return args.refuse(i, Error::kArgumentValue);
  }
  const Error error = check_requantization(args.list(kMultipliers)[0], args.list(kShifts)[0]);
  return error == Error::kOk ? error : args.refuse(kShifts, error);
}

// @return sum of (a + a_offset) * (b + b_offset), wrapping.
uint32_t dot(const int8_t* a, const int8_t* b, int32_t count, int32_t a_offset, int32_t b_offset) {
  uint32_t sum = 0;
  for (const int8_t* const end = a + count; a != end; ++a, ++b) {
    sum += static_cast<uint32_t>((*a + a_offset) * (*b + b_offset));
  }
  return sum;
}

uint32_t dot(const int8_t* a, const int8_t* b, int32_t count, int32_t a_offset) {
  uint32_t sum = 0;
  for (const int8_t* const end = a + count; a != end; ++a, ++b) {
    sum += static_cast<uint32_t>((*a + a_offset) * *b);
  }
  return sum;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& weight = args.tensor(kWeight);
  Tensor& out = args.tensor(kOut);
  const int32_t depth = weight.size(1);
  const int32_t outputs = weight.size(0);
  const int32_t multiplier = args.list(kMultipliers)[0];
  const int32_t shift = args.list(kShifts)[0];
  const int32_t out_offset = args.integer(kOutputOffset);
  const int32_t low = args.integer(kActivationMin);
  const int32_t high = args.integer(kActivationMax);
  const int32_t filter_offset = args.integer(kFilterOffset);
  const bool summed = !args.is_none(kKernelSum);
  const Tensor* addend = args.optional_tensor(summed ? kKernelSum : kBias);
  const int32_t in_offset = summed ? 0 : args.integer(kInputOffset);

  const int8_t* row = args.tensor(kInput).as<int8_t>();
  int8_t* result = out.as<int8_t>();
  const int8_t* const end = result + out.numel();
  for (; result != end; row += depth) {
    const int8_t* filter = weight.as<int8_t>();
    for (int32_t o = 0; o < outputs; ++o, filter += depth) {
      uint32_t sum = filter_offset == 0 ? dot(row, filter, depth, in_offset)
                                        : dot(row, filter, depth, in_offset, filter_offset);
      if (addend != nullptr) sum += static_cast<uint32_t>(addend->as<int32_t>()[o]);
      const int32_t scaled = requantize(static_cast<int32_t>(sum), multiplier, shift);
      *result++ = static_cast<int8_t>(clamp(wrapping_add(scaled, out_offset), low, high));
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_linear, "cortex_m::quantized_linear.out", prepare, run);

}  // namespace rt::kernels
