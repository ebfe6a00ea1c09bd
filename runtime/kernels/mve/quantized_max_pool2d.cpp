// cortex_m::quantized_max_pool2d with Helium: sixteen channels at a time.

#include <arm_mve.h>

#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/mve/copy.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/pooled_window.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t { kActivationMin = 8, kActivationMax = 9, kOut = 10 };

constexpr int32_t kLanes = 16;

// One output of up to sixteen channels.
void pool_lanes(const int8_t* corner, int8_t* out, int32_t lanes, int32_t rows, int32_t columns,
                int32_t row_bytes, int32_t channels) {
  const mve_pred16_t some = vctp8q(static_cast<uint32_t>(lanes));
  int8x16_t largest = vdupq_n_s8(-128);
  for (int32_t y = 0; y < rows; ++y, corner += row_bytes) {
    const int8_t* in = corner;
    for (int32_t x = 0; x < columns; ++x, in += channels) {
      largest = vmaxq_s8(largest, vldrbq_z_s8(in, some));
    }
  }
  vstrbq_p_s8(out, largest, some);
}

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_max_pool2d(args, needs); }

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const int32_t channels = input.size(1);
  pool_windows(input, out, pool_window(args, out), [&](PooledWindow window) {
    for (int32_t c = 0; c < channels; c += kLanes) {
      const int32_t lanes = channels - c < kLanes ? channels - c : kLanes;
      pool_lanes(window.corner + c, window.out + c, lanes, window.rows, window.columns,
                 window.row_bytes, channels);
    }
  });
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kActivationMin),
              args.integer(kActivationMax));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_max_pool2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_max_pool2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::mve
