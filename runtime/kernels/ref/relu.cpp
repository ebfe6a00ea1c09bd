// aten::relu, float32.

#include "runtime/kernels/float_unary.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("to="));
  return check_float_unary(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  float_unary(args.tensor(kInput), args.tensor(kOut),
              [](float value) { return value < 0.0F ? 0.0F : value; });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(relu, "aten::relu.out", prepare, run);

}  // namespace rt::kernels
