// aten::linear.out.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kWeight, kBias, kOut };

Factor factor_of(const Args& args) {
  const Tensor& weight = args.tensor(kWeight);
  return {weight.as<float>(), weight.size(1), weight.size(0), true};
}

Error prepare(Args& args, Needs& needs) { return rt_checks_linear(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Factor b = factor_of(args);
  if (!columns_suffice(b)) return rt_fallback_linear(args, temporary);
  const Tensor* bias = args.optional_tensor(kBias);
  const auto rows = static_cast<int32_t>(args.tensor(kOut).numel()) / b.columns;
  multiply(args.tensor(kInput).as<float>(), rows, b, bias == nullptr ? nullptr : bias->as<float>(),
           args.tensor(kOut).as<float>());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::linear.out", prepare, run);

}  // namespace rt::kernels::fpu
