#include "runtime/kernels/fpu/float_matmul.hpp"

namespace rt::kernels::fpu {
namespace {

constexpr int32_t kFloat = sizeof(float);

const float* from(const float* bias, int32_t first) {
  return bias == nullptr ? nullptr : bias + first;
}

// Calls run(first column, blocks): all columns in blocks of `size`, the last block again as far as
// it was done.
template <typename Run>
void for_blocks(int32_t columns, int32_t size, Run run) {
  run(0, columns / size);
  if (columns % size != 0) run(columns - size, 1);
}

void multiply_row(const float* a, const Factor& b, const float* bias, float* out) {
  if (b.transposed) {
    for_blocks(b.columns, kDotChannels, [&](int32_t first, int32_t blocks) {
      Dot1 dot = {
          a,       out + first, from(bias, first), b.data + first * b.depth, b.depth * kFloat,
          b.depth, blocks};
      rt_float_dot1(&dot);
    });
  } else {
    for_blocks(b.columns, kLaneChannels, [&](int32_t first, int32_t blocks) {
      Columns columns = {
          a, out + first, from(bias, first), b.data + first, b.columns * kFloat, b.depth, blocks};
      rt_float_columns(&columns);
    });
  }
}

// Up to kPixels rows times rows of weights.
void multiply_tile(const float* a, int32_t rows, const Factor& b, const float* bias, float* out) {
  for_blocks(b.columns, kDotChannels, [&](int32_t first, int32_t blocks) {
    Dot dot = {};
    for (int32_t p = 0; p < kPixels; ++p) {
      const int32_t row = p < rows ? p : 0;
      dot.x[p] = a + row * b.depth;
      dot.out[p] = out + row * b.columns + first;
    }
    dot.bias = from(bias, first);
    dot.weights = b.data + first * b.depth;
    dot.weights_row = b.depth * kFloat;
    dot.count = b.depth;
    dot.rows = b.depth == 0 ? 0 : 1;
    dot.blocks = blocks;
    rt_float_dot(&dot);
  });
}

}  // namespace

void multiply(const float* a, int32_t rows, const Factor& b, const float* bias, float* out) {
  for (int32_t row = 0; row < rows;) {
    const int32_t left = rows - row;
    const bool is_tile = b.transposed && left > 1;
    if (is_tile) {
      multiply_tile(a, left < kPixels ? left : kPixels, b, bias, out);
    } else {
      multiply_row(a, b, bias, out);
    }
    const int32_t done = is_tile ? kPixels : 1;
    a += done * b.depth;
    out += done * b.columns;
    row += done;
  }
}

}  // namespace rt::kernels::fpu
