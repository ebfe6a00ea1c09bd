#include "runtime/kernels/dsp/requantize.hpp"

namespace rt::kernels::dsp {
namespace {

// SSUB8 sets a flag for each byte that is not below; SEL picks by them.
uint32_t clamp_word(uint32_t bytes, uint32_t low, uint32_t high) {
  uint32_t unused = 0;
  asm("ssub8 %1, %0, %2\n\t"
      "sel %0, %0, %2\n\t"
      "ssub8 %1, %3, %0\n\t"
      "sel %0, %0, %3"
      : "+r"(bytes), "=&r"(unused)
      : "r"(low), "r"(high));
  return bytes;
}

}  // namespace

bool sums_fit(const Tensor* bias, int32_t terms) {
  constexpr int32_t kHalf = 1 << 29;
  constexpr int32_t kLargestProduct = 255 * 128;
  if (terms > kHalf / kLargestProduct) return false;
  if (bias == nullptr) return true;
  if (!bias->is_constant()) return false;
  uint32_t beyond = 0;  // gets bits where a bias is outside [-2^29, 2^29)
  const int32_t* value = bias->as<int32_t>();
  for (const int32_t* const end = value + bias->numel(); value != end; ++value) {
    beyond |= (static_cast<uint32_t>(*value) + kHalf) >> 30;
  }
  return beyond == 0;
}

void clamp_bytes(int8_t* data, uint32_t count, int32_t low, int32_t high) {
  if (low == -128 && high == 127) return;
  const uint32_t lows = static_cast<uint8_t>(low) * 0x0101'0101U;
  const uint32_t highs = static_cast<uint8_t>(high) * 0x0101'0101U;
  for (; count >= 4; count -= 4, data += 4) {
    const uint32_t bytes = clamp_word(load_word(data), lows, highs);
    __builtin_memcpy(data, &bytes, sizeof bytes);
  }
  for (; count > 0; --count, ++data) *data = static_cast<int8_t>(clamp(*data, low, high));
}

}  // namespace rt::kernels::dsp
