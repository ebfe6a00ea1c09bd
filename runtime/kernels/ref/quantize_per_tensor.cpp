// cortex_m::quantize_per_tensor: float to int8.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/quantization.hpp"
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

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  // quantized_decomposed::quantize_per_tensor multiplies by the inverse, made in double.
  const Quantization quantize = {inverse_of(args.number(kScale)), args.integer(kZeroPoint),
                                 args.integer(kMin), args.integer(kMax)};
  const float* in = input.as<float>();
  int8_t* out = args.tensor(kOut).as<int8_t>();
  for (uint32_t i = 0; i < input.numel(); ++i) out[i] = quantize(in[i]);
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantize_per_tensor, "cortex_m::quantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels
