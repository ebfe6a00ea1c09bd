// cortex_m::quantized_max_pool2d: the largest element of the window, clamped.

#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t {
  kDilation = 4,
  kCeilMode,
  kInputZeroPoint,
  kOutputZeroPoint,
  kActivationMin,
  kActivationMax,
  kOut,
};

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tllllbiiiio="));
  // As the reference operator: no dilation, no rounding up, one quantization.
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, kDilation, 1, h, w));
  if (h != 1 || w != 1) return args.refuse(kDilation, Error::kArgumentValue);
  if (args.boolean(kCeilMode)) return args.refuse(kCeilMode, Error::kArgumentValue);
  if (args.integer(kInputZeroPoint) != args.integer(kOutputZeroPoint)) {
    return args.refuse(kOutputZeroPoint, Error::kArgumentValue);
  }
  RT_TRY(expect_activation(args, kActivationMin, kActivationMax));
  return check_pool(args, kOut, false);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const int32_t low = args.integer(kActivationMin);
  const int32_t high = args.integer(kActivationMax);
  pool(
      input, out, pool_window(args, out), -128,
      [](int32_t largest, int8_t value) { return value > largest ? value : largest; },
      [=](int32_t largest, int32_t) { return static_cast<int8_t>(clamp(largest, low, high)); });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_max_pool2d, "cortex_m::quantized_max_pool2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_max_pool2d_nhwc.out", prepare, run);

}  // namespace rt::kernels
