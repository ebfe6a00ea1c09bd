// Averages over parts of channels-last images, eight channels at a time.
#pragma once

#include <cstdint>

#include "runtime/kernels/fpu/float_dot.hpp"

namespace rt::kernels::fpu {

// As many channels as share the ones that each is multiplied by, which changes nothing.
inline constexpr int32_t kMostOnes = 64;

// Elements in channels-last images; `rows` lines of `columns` pixels each.
struct Area {
  const float* x;
  int32_t rows, columns;
  int32_t line;  // from one line to the next
};

inline uint32_t ones_bytes(int32_t channels) {
  return static_cast<uint32_t>(channels < kMostOnes ? channels : kMostOnes) * sizeof(float);
}
inline void fill_ones(float* ones, int32_t channels) {
  for (int32_t i = 0; i < channels && i < kMostOnes; ++i) ones[i] = 1.0F;
}

// out[c] = sum over the area of x[c], line by line, / divisor. At least eight channels.
inline void average(const Area& area, int32_t channels, float divisor, const float* ones,
                    float* out) {
  constexpr int32_t kFloat = sizeof(float);
  const auto run = [&](int32_t first, int32_t blocks) {
    Lanes lanes = {area.x + first,
                   out + first,
                   nullptr,
                   ones,
                   area.rows,
                   area.columns,
                   channels * kFloat,
                   (area.line - area.columns * channels) * kFloat,
                   0,
                   0,
                   blocks};
    rt_float_lanes(&lanes);
  };
  for (int32_t first = 0; first + kLaneChannels <= channels; first += kMostOnes) {
    const int32_t left = channels - first;
    run(first, (left < kMostOnes ? left : kMostOnes) / kLaneChannels);
  }
  // The last eight again, as far as they were done.
  if (channels % kLaneChannels != 0) run(channels - kLaneChannels, 1);
  for (int32_t c = 0; c < channels; ++c) out[c] = out[c] / divisor;
}

}  // namespace rt::kernels::fpu
