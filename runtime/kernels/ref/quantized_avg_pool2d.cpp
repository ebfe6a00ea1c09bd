// cortex_m::quantized_avg_pool2d: the mean over the window without its padding, in integers.
//
// Follows what runs on devices, CMSIS-NN's arm_avgpool_s8: the sum divided by the number of
// elements, rounded to nearest with ties away from zero. ExecuTorch's Python reference computes in
// float and differs from it by one step now and then. Scale and zero point of input and output are
// the same, so multiplier, shift and zero point (arguments 5 to 7) have no part in it.

#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

constexpr uint32_t kCeilMode = 4;
constexpr uint32_t kOut = 9;

Error prepare(Args& args, Needs&) {
  // The planned scratch (8) is CMSIS-NN's; this kernel needs none.
  RT_TRY(args.match("tlllbiiito="));
  return check_pool(args, kOut, args.boolean(kCeilMode));
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  pool(
      input, out, pool_window(args, out), 0, [](int32_t sum, int8_t value) { return sum + value; },
      [](int32_t sum, int32_t count) {
        const int32_t half = count / 2;
        return static_cast<int8_t>((sum > 0 ? sum + half : sum - half) / count);
      });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(quantized_avg_pool2d, "cortex_m::quantized_avg_pool2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_avg_pool2d_nhwc.out", prepare, run);

}  // namespace rt::kernels
