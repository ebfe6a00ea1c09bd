// Division of floats rounded down.
#pragma once

#include <cmath>

namespace rt::kernels {

// torch's div_floor: from the remainder, so that a quotient near an integer is not rounded up.
inline float floored_quotient(float a, float b) {
  if (b == 0.0F) return a / b;
  const float rest = std::fmod(a, b);
  float whole = (a - rest) / b;
  if (rest != 0.0F && (b < 0.0F) != (rest < 0.0F)) whole -= 1.0F;
  if (whole == 0.0F) return std::copysign(0.0F, a / b);
  const float down = std::floor(whole);
  return whole - down > 0.5F ? down + 1.0F : down;
}

}  // namespace rt::kernels
