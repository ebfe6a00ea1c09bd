// Functions of floats by polynomials with fused multiply-adds: one float at a time on an FPU, four
// with Helium. They are not the C library's to the bit; tests hold both to one bound
// (tests/kernels_device/float_oracles.cpp).
#pragma once

#include <bit>
#include <cstdint>

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include <arm_mve.h>
#endif

namespace rt::kernels::fpu {

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

using Vector = float32x4_t;
using Mask = mve_pred16_t;
inline constexpr int32_t kLanes = 4;

inline Vector all(float x) { return vdupq_n_f32(x); }
inline Vector load(const float* from) { return vldrwq_f32(from); }
inline void store(float* to, Vector x) { vstrwq_f32(to, x); }
// The first `left` lanes, others zero.
inline Vector load(const float* from, int32_t left) {
  return vldrwq_z_f32(from, vctp32q(static_cast<uint32_t>(left)));
}
inline void store(float* to, Vector x, int32_t left) {
  vstrwq_p_f32(to, x, vctp32q(static_cast<uint32_t>(left)));
}
inline Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
inline Vector subtract(Vector a, Vector b) { return vsubq_f32(a, b); }
inline Vector multiply(Vector a, Vector b) { return vmulq_f32(a, b); }
// a + b * c, rounded once
inline Vector multiply_add(Vector a, Vector b, float c) { return vfmaq_n_f32(a, b, c); }
// a * b + c, rounded once
inline Vector horner(Vector a, Vector b, float c) { return vfmasq_n_f32(a, b, c); }
inline Vector magnitude(Vector x) { return vabsq_f32(x); }
inline Vector negative(Vector x) { return vnegq_f32(x); }
// 1 / x; there is no division of vectors.
inline Vector inverse(Vector x) {
  for (int32_t i = 0; i < kLanes; ++i) x[i] = 1.0F / x[i];
  return x;
}
// p * 2^n of normal results, where n is t less its bits' own part
inline Vector scaled(Vector p, Vector t, uint32_t own) {
  const int32x4_t n = vsubq_n_s32(vreinterpretq_s32_f32(t), static_cast<int32_t>(own));
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), vshlq_n_s32(n, 23)));
}
// A NaN is not below.
inline Mask below(Vector a, float b) { return vcmpgtq_f32(vdupq_n_f32(b), a); }
inline Vector select(Mask mask, Vector a, Vector b) { return vpselq_f32(a, b, mask); }
inline Vector nan_of(Vector x, Vector otherwise) {
  return vpselq_f32(x, otherwise, vcmpneq_f32(x, x));
}
inline float sum_of(Vector x) { return (x[0] + x[1]) + (x[2] + x[3]); }
// `x` with -infinity in the lanes from `left` on
inline Vector or_lowest(Vector x, int32_t left) {
  return vpselq_f32(x, vdupq_n_f32(-__builtin_inff()), vctp32q(static_cast<uint32_t>(left)));
}
inline Vector or_zero(Vector x, int32_t left) {
  return vpselq_f32(x, vdupq_n_f32(0.0F), vctp32q(static_cast<uint32_t>(left)));
}
inline float largest_of(float known, Vector x) { return vmaxnmvq_f32(known, x); }

#else

using Vector = float;
using Mask = bool;
inline constexpr int32_t kLanes = 1;

inline Vector all(float x) { return x; }
inline Vector load(const float* from) { return *from; }
inline void store(float* to, Vector x) { *to = x; }
inline Vector load(const float* from, int32_t) { return *from; }
inline void store(float* to, Vector x, int32_t) { *to = x; }
inline Vector add(Vector a, Vector b) { return a + b; }
inline Vector subtract(Vector a, Vector b) { return a - b; }
inline Vector multiply(Vector a, Vector b) { return a * b; }
inline Vector multiply_add(Vector a, Vector b, float c) { return __builtin_fmaf(b, c, a); }
inline Vector horner(Vector a, Vector b, float c) { return __builtin_fmaf(a, b, c); }
inline Vector magnitude(Vector x) { return __builtin_fabsf(x); }
inline Vector negative(Vector x) { return -x; }
inline Vector inverse(Vector x) { return 1.0F / x; }
inline Vector scaled(Vector p, Vector t, uint32_t own) {
  const uint32_t n = std::bit_cast<uint32_t>(t) - own;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (n << 23));
}
inline Mask below(Vector a, float b) { return a < b; }
inline Vector select(Mask mask, Vector a, Vector b) { return mask ? a : b; }
inline Vector nan_of(Vector x, Vector otherwise) { return x != x ? x : otherwise; }
inline float sum_of(Vector x) { return x; }
inline Vector or_lowest(Vector x, int32_t) { return x; }
inline Vector or_zero(Vector x, int32_t) { return x; }
inline float largest_of(float known, Vector x) { return x > known ? x : known; }

#endif

// e^x for x <= 0 (or a NaN, which stays), within 2 units of the last place; 0 below 2^-126.
//
// x = n ln 2 + r, |r| <= ln 2 / 2, and e^r = 1 + r + r^2 q(r), q of degree 4 fitted to a relative
// error of 2^-28.
inline Vector exponential(Vector x) {
  constexpr float kLog2E = 0x1.715476p+0F;
  constexpr float kLn2 = 0x1.62e430p-1F, kLn2Rest = -0x1.05c610p-29F;
  constexpr float kRounding = 0x1.8p+23F;  // adding it leaves n in the last places
  const Vector t = horner(x, all(kLog2E), kRounding);
  const Vector n = subtract(t, all(kRounding));
  Vector r = multiply_add(x, n, -kLn2);
  r = multiply_add(r, n, -kLn2Rest);
  Vector q = horner(all(0x1.6a2256p-10F), r, 0x1.123b02p-7F);
  q = horner(q, r, 0x1.5558f8p-5F);
  q = horner(q, r, 0x1.555490p-3F);
  q = horner(q, r, 0x1.fffffcp-2F);
  q = horner(q, r, 1.0F);
  q = horner(q, r, 1.0F);
  constexpr float kLeast = -0x1.5d589ep+6F;  // ln 2^-126, rounded towards zero
  return nan_of(
      x, select(below(x, kLeast), all(0.0F), scaled(q, t, std::bit_cast<uint32_t>(kRounding))));
}

// 1 / (1 + e^-x). @return the same in the lanes' order; a NaN stays.
inline Vector logistic(Vector x) {
  const Vector e = exponential(negative(magnitude(x)));
  const Vector s = inverse(add(all(1.0F), e));
  return select(below(x, 0.0F), multiply(e, s), s);
}

// Calls function(lanes) for each of `count` numbers, `kLanes` at a time.
template <typename Function>
void map_floats(const float* x, float* out, int32_t count, Function function) {
  for (; count >= kLanes; count -= kLanes, x += kLanes, out += kLanes) {
    store(out, function(load(x)));
  }
  if (count > 0) store(out, function(load(x, count)), count);
}

}  // namespace rt::kernels::fpu
