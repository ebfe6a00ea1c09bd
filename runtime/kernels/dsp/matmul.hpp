// Products of two int8 operands that both have offsets; matmul.S. One offset more than in dot.hpp
// costs a register, and with it the fifth row.
#pragma once

#include <cstdint>

namespace rt::kernels::dsp {

inline constexpr int32_t kMatmulRows = 4;

struct Matmul4 {
  int32_t quads;    // depth / 4
  uint32_t offset;  // of the column, in both halves
  int32_t tail;     // depth % 4
};

extern "C" {
// Sums of four rows times one column. `rows` has a word of each of the four rows for each pair of
// values, offset added; those beyond the depth are zero. `column` is `depth` bytes, of any
// alignment.
void rt_dsp_matmul4(const int32_t* rows, const int8_t* column, const Matmul4* matmul,
                    int32_t* sums);
}

}  // namespace rt::kernels::dsp
