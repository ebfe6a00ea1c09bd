// cortex_m::minimum: the smaller of two int8 values of one scale, broadcast.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_type(args, {kSelf, kOther, kOut}, ScalarType::kChar));
  for (const uint32_t i : {kSelf, kOther}) {
    if (!broadcasts_to(args.tensor(i), args.tensor(kOut))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte>) {
  elementwise<int8_t>(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut),
                      [](int8_t a, int8_t b) { return a < b ? a : b; });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(minimum, "cortex_m::minimum.out", prepare, run);

}  // namespace rt::kernels
