// aten::permute_copy: dimension d of the output is dimension dims[d] of the input. Any type.

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

RT_KERNEL("aten::permute_copy.out", prepare, run);

}  // namespace rt::kernels
