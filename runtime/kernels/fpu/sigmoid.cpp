// aten::sigmoid.out of tensors that lie alike.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/fpu/float_math.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

Error prepare(Args& args, Needs& needs) { return rt_checks_sigmoid(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(0);
  Tensor& out = args.tensor(1);
  if (!same_layout(input, out)) return rt_fallback_sigmoid(args, temporary);
  map_floats(input.as<float>(), out.as<float>(), static_cast<int32_t>(out.numel()), logistic);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::sigmoid.out", prepare, run);

}  // namespace rt::kernels::fpu
