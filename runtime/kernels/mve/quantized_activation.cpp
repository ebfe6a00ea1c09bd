// cortex_m::quantized_activation with Helium: sixteen entries of the table are gathered at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t { kInput, kTable, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_activation(args, needs); }

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  rt_mve_look_up(input.as<int8_t>(), args.tensor(kTable).as<int8_t>(),
                 args.tensor(kOut).as<int8_t>(), input.numel());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_activation.out", prepare, run);

}  // namespace rt::kernels::mve
