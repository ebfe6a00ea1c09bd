// Elementwise kernels with Helium; elementwise.S.
#pragma once

#include <cstdint>

namespace rt::kernels::mve {

struct Addition {
  const int32_t* self;   // 256 scaled values by the operand's byte
  const int32_t* other;  // likewise
  int32_t multiplier;
  int32_t shift;  // below 0
  int32_t offset;
  uint32_t count;
};

struct Multiplication {
  int32_t self_zero_point, other_zero_point;
  int32_t multiplier;
  int32_t shift;  // below 0
  int32_t offset;
  uint32_t count;
};

struct Scaling {
  float factor;
  int32_t zero_point;
};

// Vectors flush denormals to zero (Armv8-M ARM, StandardFPSCRValue). With factors within this and
// its inverse no product that matters is one, and no operand.
inline constexpr float kLargestFactor = 0x1p100F;

extern "C" {
// out = clamp8(requantize(self[a] + other[b]) + offset)
void rt_mve_add(const int8_t* a, const int8_t* b, int8_t* out, const Addition* addition);
// out = clamp8(requantize((a - zero point) * (b - zero point)) + offset)
void rt_mve_multiply(const int8_t* a, const int8_t* b, int8_t* out,
                     const Multiplication* multiplication);
void rt_mve_maximum(const int8_t* a, const int8_t* b, int8_t* out, uint32_t count);
void rt_mve_minimum(const int8_t* a, const int8_t* b, int8_t* out, uint32_t count);
// out = table[in + 128]
void rt_mve_look_up(const int8_t* in, const int8_t* table, int8_t* out, uint32_t count);
// out = clamp8(round(in * factor) + zero point), ties to even, `blocks` times 16, at least one.
// @return 0 if no input was a NaN.
uint32_t rt_mve_quantize(const float* in, int8_t* out, uint32_t blocks, const Scaling* scaling);
// out = (in - zero point) * factor
void rt_mve_dequantize(const int8_t* in, float* out, uint32_t count, const Scaling* scaling);
}

}  // namespace rt::kernels::mve
