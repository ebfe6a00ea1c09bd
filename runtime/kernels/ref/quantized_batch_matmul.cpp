// cortex_m::quantized_batch_matmul: output[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, j, k],
// requantized.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/requantize.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kLhs,
  kLhsOffset,
  kRhs,
  kRhsOffset,
  kOutZeroPoint,
  kMultiplier,
  kShift,
  kScratch,
  kOut,
};

Error prepare(Args& args, Needs&) {
  // The planned scratch is CMSIS-NN's; this kernel needs none.
  RT_TRY(args.match("titiiiito="));
  RT_TRY(expect_type(args, {kLhs, kRhs, kOut}, ScalarType::kChar));
  for (const uint32_t i : {kLhs, kRhs, kOut}) RT_TRY(expect_rank(args, i, 3));
  RT_TRY(expect_contiguous(args, {kLhs, kRhs, kOut}));
  const Tensor& lhs = args.tensor(kLhs);
  const Tensor& rhs = args.tensor(kRhs);
  const Tensor& out = args.tensor(kOut);
  if (rhs.size(0) != lhs.size(0) || rhs.size(2) != lhs.size(2)) {
    return args.refuse(kRhs, Error::kArgumentShape);
  }
  if (out.size(0) != lhs.size(0) || out.size(1) != lhs.size(1) || out.size(2) != rhs.size(1)) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  // Negated zero points, whatever upstream's names say.
  RT_TRY(expect_offset(args, kLhsOffset));
  RT_TRY(expect_offset(args, kRhsOffset));
  RT_TRY(expect_zero_point(args, kOutZeroPoint));
  return expect_requantization(args, kMultiplier, kShift);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& lhs = args.tensor(kLhs);
  const int32_t rows = lhs.size(1);
  const int32_t depth = lhs.size(2);
  const int32_t columns = args.tensor(kRhs).size(1);
  const int32_t lhs_offset = args.integer(kLhsOffset);
  const int32_t rhs_offset = args.integer(kRhsOffset);
  const int32_t zero_point = args.integer(kOutZeroPoint);
  const int32_t multiplier = args.integer(kMultiplier);
  const int32_t shift = args.integer(kShift);
  const int8_t* row = lhs.as<int8_t>();
  const int8_t* matrix = args.tensor(kRhs).as<int8_t>();
  int8_t* result = args.tensor(kOut).as<int8_t>();
  for (int32_t b = 0; b < lhs.size(0); ++b, matrix += columns * depth) {
    for (int32_t i = 0; i < rows; ++i, row += depth) {
      const int8_t* column = matrix;
      for (int32_t j = 0; j < columns; ++j, column += depth) {
        uint32_t sum = 0;
        for (int32_t k = 0; k < depth; ++k) {
          sum += static_cast<uint32_t>((row[k] + lhs_offset) * (column[k] + rhs_offset));
        }
        const int32_t scaled = requantize(static_cast<int32_t>(sum), multiplier, shift);
        *result++ = static_cast<int8_t>(clamp(wrapping_add(scaled, zero_point), -128, 127));
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_batch_matmul, "cortex_m::quantized_batch_matmul.out", prepare, run);

}  // namespace rt::kernels
