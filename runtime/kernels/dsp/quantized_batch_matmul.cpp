// cortex_m::quantized_batch_matmul with the DSP extension, four rows at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/dsp/dot.hpp"
#include "runtime/kernels/dsp/matmul.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
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

// Twice a sum of products of two numbers of nine bits fits 32 bits.
constexpr int32_t kMostTerms = (1 << 30) / (255 * 255);

bool suits(const Args& args) {
  return args.tensor(kLhs).size(2) <= kMostTerms && scale_fits(args.integer(kShift));
}

// Two words of each of four rows a quad.
uint32_t scratch_bytes(const Args& args) {
  return static_cast<uint32_t>(kMatmulRows * 2 * round_up_to_quad(args.tensor(kLhs).size(2)));
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_batch_matmul(args, needs));
  if (suits(args)) need_scratch(args, kScratch, scratch_bytes(args), needs);
  return Error::kOk;
}

// Widens a row to every fourth word; what lies beyond it in its last quad becomes zero.
void widen_with_zeros(int32_t* to, const int8_t* from, int32_t depth, AddedQuads quads) {
  to = widen<kMatmulRows>(to, from, depth >> 2, quads);
  const int32_t tail = depth & 3;
  if (tail == 0) return;
  const uint32_t bytes = load_tail(from + (depth & ~3), tail);
  const int32_t first = quads.first(bytes);
  const int32_t second = quads.second(bytes, first);
  to[0] = tail < 3 ? first & 0xFFFF : first;
  to[kMatmulRows] = tail < 2 ? 0 : second & 0xFFFF;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_quantized_batch_matmul(args, temporary);
  const Tensor& lhs = args.tensor(kLhs);
  const int32_t rows = lhs.size(1);
  const int32_t depth = lhs.size(2);
  const int32_t columns = args.tensor(kRhs).size(1);
  const AddedQuads quads = {both(args.integer(kLhsOffset))};
  const Matmul4 matmul = {depth >> 2, both(args.integer(kRhsOffset)), depth & 3};
  const int32_t multiplier = args.integer(kMultiplier);
  const int32_t inverted_shift = ~args.integer(kShift);
  const int32_t rounding = rounding_of(args.integer(kOutZeroPoint));
  int32_t* const widened =
      reinterpret_cast<int32_t*>(take_scratch(args, kScratch, scratch_bytes(args), temporary));
  const int8_t* row = lhs.as<int8_t>();
  const int8_t* matrix = args.tensor(kRhs).as<int8_t>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  for (int32_t b = 0; b < lhs.size(0); ++b, matrix += columns * depth) {
    for (int32_t done = 0; done < rows; done += kMatmulRows) {
      const int32_t count = rows - done < kMatmulRows ? rows - done : kMatmulRows;
      for (int32_t i = 0; i < count; ++i, row += depth) {
        widen_with_zeros(widened + i, row, depth, quads);
      }
      const int8_t* column = matrix;
      for (int32_t j = 0; j < columns; ++j, column += depth) {
        // Of rows that are missing, what lies in their place is multiplied, and not used.
        int32_t sums[kMatmulRows];
        rt_dsp_matmul4(widened, column, &matmul, sums);
        int8_t* to = out + j;
        for (int32_t i = 0; i < count; ++i, to += columns) {
          *to = static_cast<int8_t>(
              requantize_doubled(2 * sums[i], multiplier, inverted_shift, rounding));
        }
      }
      out += count * columns;
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_batch_matmul.out", prepare, run);

}  // namespace rt::kernels::dsp
