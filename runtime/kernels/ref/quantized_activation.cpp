// cortex_m::quantized_activation: a table of 256 entries, indexed by the input + 128.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kTable, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tto="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& table = args.tensor(kTable);
  if (input.type() != ScalarType::kChar) return args.refuse(kInput, Error::kArgumentScalarType);
  if (table.type() != ScalarType::kChar) return args.refuse(kTable, Error::kArgumentScalarType);
  if (table.numel() != 256) return args.refuse(kTable, Error::kArgumentShape);
  if (args.tensor(kOut).type() != ScalarType::kChar) {
    return args.refuse(kOut, Error::kArgumentScalarType);
  }
  return same_layout(input, args.tensor(kOut)) ? Error::kOk
                                               : args.refuse(kOut, Error::kArgumentLayout);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const int8_t* in = input.as<int8_t>();
  const int8_t* table = args.tensor(kTable).as<int8_t>() + 128;
  int8_t* out = args.tensor(kOut).as<int8_t>();
  for (uint32_t i = 0; i < input.numel(); ++i) out[i] = table[in[i]];
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_activation, "cortex_m::quantized_activation.out", prepare, run);

}  // namespace rt::kernels
