// aten::hardtanh, float32; ReLU6 is one.

#include "runtime/kernels/float_unary.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kMin, kMax, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tsso="));
  return check_float_unary(args, kInput, kOut);
}

Error run(const Args& args, std::span<std::byte>) {
  const auto low = static_cast<float>(args.number(kMin));
  const auto high = static_cast<float>(args.number(kMax));
  float_unary(args.tensor(kInput), args.tensor(kOut),
              [=](float value) { return clamp_float(value, low, high); });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(hardtanh, "aten::hardtanh.out", prepare, run);

}  // namespace rt::kernels
