// aten::ones: a tensor of 1.

#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSizes, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("lo="));
  RT_TRY(expect_known(args, kOut));
  return expect_sizes(args, kSizes, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  Tensor &out = args.tensor(kOut);
  for_type(out.type(), [&]<typename T>(T) {
    for (uint32_t i = 0; i < out.numel(); ++i) out.as<T>()[i] = T{1};
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::ones.out", prepare, run);

}  // namespace rt::kernels
