// cortex_m::quantize_per_tensor without an FPU: half a product of mantissas decides, unless the
// value lies so near a tie that its rounding matters.

#include <cmath>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/quantization.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scale.hpp"

namespace rt::kernels::scalar {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

// A float of bits s, e, m has the magnitude (2^23 + m) * 2^(e - 150) if e is neither 0 nor 255.
constexpr uint32_t kMagnitude = 0x7FFF'FFFF;
uint32_t exponent_of(uint32_t bits) { return bits >> 23 & 0xFF; }
uint32_t upper_mantissa(uint32_t bits) { return (bits >> 8 & 0x7FFF) | 0x8000; }

class Estimate {
 public:
  explicit Estimate(const Quantization& exact)
      : exact_(exact),
        mantissa_(upper_mantissa(std::bit_cast<uint32_t>(exact.inverse))),
        exponent_(static_cast<int32_t>(exponent_of(std::bit_cast<uint32_t>(exact.inverse)))) {}

  // The upper halves of both mantissas make a product p in [2^30, 2^32), to which less than 2^17 is
  // missing; the value is p * 2^-places.
  int8_t operator()(float value) const {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & kMagnitude) == 0) return rounded(bits, 0);
    const uint32_t exponent = exponent_of(bits);
    if (exponent == 0 || exponent == 0xFF) return exact_(value);
    const int32_t places = 284 - exponent_ - static_cast<int32_t>(exponent);
    if (places > 33) return rounded(bits, 0);     // below 1/4
    if (places < 22) return rounded(bits, 1024);  // 512 or more: a bound in any case
    // A quarter of it, so that half a unit can be added; the float product's own rounding moves it
    // by 2^6 at most, in either direction.
    const uint32_t quarter = (upper_mantissa(bits) * mantissa_) >> 2;
    const uint32_t half = 1U << (places - 3);
    const uint32_t least = (quarter - (1U << 6) + half) >> (places - 2);
    const uint32_t most = (quarter + (1U << 15) + (1U << 6) + 1 + half) >> (places - 2);
    return least == most ? rounded(bits, static_cast<int32_t>(least)) : exact_(value);
  }

 private:
  int8_t rounded(uint32_t bits, int32_t magnitude) const {
    const int32_t value = (bits >> 31) != 0 ? -magnitude : magnitude;
    return static_cast<int8_t>(clamp(value + exact_.zero_point, exact_.low, exact_.high));
  }

  const Quantization& exact_;
  uint32_t mantissa_;
  int32_t exponent_;
};

Error prepare(Args& args, Needs& needs) { return rt_checks_quantize_per_tensor(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Quantization exact = {inverse_of(args.number(kScale)), args.integer(kZeroPoint),
                              args.integer(kMin), args.integer(kMax)};
  if (!std::isnormal(exact.inverse)) return rt_fallback_quantize_per_tensor(args, temporary);
  const Estimate quantize(exact);
  const Tensor& input = args.tensor(kInput);
  const float* in = input.as<float>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  for (const float* const end = in + input.numel(); in != end;) *out++ = quantize(*in++);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels::scalar
