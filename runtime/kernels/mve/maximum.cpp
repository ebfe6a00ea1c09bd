// cortex_m::maximum with Helium: sixteen values at a time.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/elementwise.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/runs.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_maximum(args, needs); }

Error run(const Args& args, std::span<std::byte>) {
  elementwise_runs(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), rt_mve_maximum,
                   [](int8_t a, int8_t b) { return a > b ? a : b; });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::maximum.out", prepare, run);

}  // namespace rt::kernels::mve
