// cortex_m::transpose: dimension d of the output is dimension perm[d] of the input.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/permute.hpp"

namespace rt::kernels {
namespace {

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tlo="));
  return check_permute(args);
}

Error run(const Args& args, std::span<std::byte>) {
  permute(args);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::transpose.out", prepare, run);

}  // namespace rt::kernels
