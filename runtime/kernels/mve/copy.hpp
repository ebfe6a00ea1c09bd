// Copies, fills and clamps of bytes with Helium, of any alignment; copy.S.
#pragma once

#include <cstdint>

namespace rt::kernels::mve {

extern "C" {
// Copies `rows` rows of `bytes` bytes each, which lie to_stride and from_stride apart.
void rt_mve_copy_rows(int8_t* to, int32_t to_stride, const int8_t* from, int32_t from_stride,
                      int32_t bytes, int32_t rows);
void rt_mve_fill(int8_t* to, int32_t bytes, int32_t value);
void rt_mve_clamp(int8_t* data, uint32_t bytes, int32_t low, int32_t high);
}

inline void clamp_bytes(int8_t* data, uint32_t bytes, int32_t low, int32_t high) {
  if (low != -128 || high != 127) rt_mve_clamp(data, bytes, low, high);
}

}  // namespace rt::kernels::mve
