// cortex_m::dequantize_per_tensor: int8 to float.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kScale, kZeroPoint, kMin, kMax, kType, kOut };

Error prepare(Args& args, Needs&) {
  // Bounds and type of the input are given again as arguments; they change nothing.
  RT_TRY(args.match("tsiiiio="));
  RT_TRY(expect_type(args, {kInput}, ScalarType::kChar));
  RT_TRY(expect_type(args, {kOut}, ScalarType::kFloat));
  RT_TRY(expect_zero_point(args, kZeroPoint));
  return same_layout(args.tensor(kInput), args.tensor(kOut))
             ? Error::kOk
             : args.refuse(kOut, Error::kArgumentLayout);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const auto scale = static_cast<float>(args.number(kScale));
  const int32_t zero_point = args.integer(kZeroPoint);
  const int8_t* in = input.as<int8_t>();
  float* out = args.tensor(kOut).as<float>();
  for (uint32_t i = 0; i < input.numel(); ++i) {
    out[i] = static_cast<float>(in[i] - zero_point) * scale;
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(dequantize_per_tensor, "cortex_m::dequantize_per_tensor.out", prepare, run);

}  // namespace rt::kernels
