// cortex_m::quantize_per_tensor: float to int8.

#include <bit>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scale.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tsiiiio="));
  RT_TRY(expect_type(args, {kInput}, ScalarType::kFloat));
  RT_TRY(expect_type(args, {kOut}, ScalarType::kChar));
  RT_TRY(expect_zero_point(args, kZeroPoint));
  RT_TRY(expect_activation(args, kMin, kMax));
  if (!is_positive(args.number(kScale))) return args.refuse(kScale, Error::kArgumentValue);
  const auto type = static_cast<int32_t>(ScalarType::kChar);
  if (args.integer(kType) != type) return args.refuse(kType, Error::kArgumentScalarType);
  return same_layout(args.tensor(kInput), args.tensor(kOut))
             ? Error::kOk
             : args.refuse(kOut, Error::kArgumentLayout);
}

// @return `value` rounded to nearest, ties to even, as rintf does; needs |value| < 2^22.
//
// Adding 1.5 * 2^23 leaves the integer in the low bits of the sum, rounded by the addition itself.
// The library's rintf costs 5 % of MobileNetV1 on cores whose FPU has no rounding instruction.
int32_t round_to_even(float value) {
  constexpr float kMagic = 12582912.0F;
  return std::bit_cast<int32_t>(value + kMagic) - std::bit_cast<int32_t>(kMagic);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  // quantized_decomposed::quantize_per_tensor multiplies by the inverse, made in double.
  const auto inverse = inverse_of(args.number(kScale));
  const int32_t zero_point = args.integer(kZeroPoint);
  const int32_t low = args.integer(kMin);
  const int32_t high = args.integer(kMax);
  // Beyond this the result is a bound whatever the zero point is.
  constexpr float kFar = 1024.0F;

  const float* in = input.as<float>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  for (uint32_t i = 0; i < input.numel(); ++i) {
    const float scaled = in[i] * inverse;
    int32_t result = 0;  // of a NaN, as torch has it on the host
    if (scaled >= -kFar && scaled <= kFar) {
      result = clamp(round_to_even(scaled) + zero_point, low, high);
    } else if (scaled > 0.0F) {
      result = high;
    } else if (scaled < 0.0F) {
      result = low;
    }
    out[i] = static_cast<int8_t>(result);
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantize_per_tensor, "cortex_m::quantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels
