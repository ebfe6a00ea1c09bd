// Quotients that are whole numbers. An integer divided by 0 gives 0 (torch refuses it).
#pragma once

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {

// Rounded down.
struct FloorDivide {
  // torch's div_floor: from the remainder, so that a quotient near an integer is not rounded up.
  float operator()(float a, float b) const {
    if (b == 0.0F) return a / b;
    const float rest = std::fmod(a, b);
    float whole = (a - rest) / b;
    if (rest != 0.0F && (b < 0.0F) != (rest < 0.0F)) whole -= 1.0F;
    if (whole == 0.0F) return std::copysign(0.0F, a / b);
    const float down = std::floor(whole);
    return whole - down > 0.5F ? down + 1.0F : down;
  }
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if (b == -1) return wrapped_difference(T{}, a);
    const T whole = static_cast<T>(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
  }
};

// Rounded towards zero.
struct TruncDivide {
  float operator()(float a, float b) const { return std::trunc(a / b); }
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    return b == -1 ? wrapped_difference(T{}, a) : static_cast<T>(a / b);
  }
};

}  // namespace rt::kernels
