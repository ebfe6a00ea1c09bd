// cortex_m::quantized_avg_pool2d with Helium: eight channels at a time.

#include <arm_mve.h>

#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/pooled_window.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
namespace {

constexpr uint32_t kOut = 9;
constexpr int32_t kLanes = 8;
constexpr int32_t kLargestCount = 255;  // 255 * 128 fits 16 bits

int8_t mean(int32_t sum, int32_t count) {
  const int32_t half = count / 2;
  return static_cast<int8_t>((sum > 0 ? sum + half : sum - half) / count);
}

// One output of up to eight channels.
void pool_lanes(const int8_t* corner, int8_t* out, int32_t lanes, int32_t rows, int32_t columns,
                int32_t row_bytes, int32_t channels) {
  const mve_pred16_t some = vctp16q(static_cast<uint32_t>(lanes));
  int16x8_t sums = vdupq_n_s16(0);
  for (int32_t y = 0; y < rows; ++y, corner += row_bytes) {
    const int8_t* in = corner;
    for (int32_t x = 0; x < columns; ++x, in += channels) {
      sums = vaddq_s16(sums, vldrbq_z_s16(in, some));
    }
  }
  int16_t sum[kLanes];
  vst1q_s16(sum, sums);
  for (int32_t c = 0; c < lanes; ++c) out[c] = mean(sum[c], rows * columns);
}

bool suits(const Window& window) { return window.h.kernel <= kLargestCount / window.w.kernel; }

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_avg_pool2d(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const Window window = pool_window(args, out);
  if (!suits(window)) return rt_fallback_quantized_avg_pool2d(args, temporary);
  const int32_t channels = input.size(1);
  pool_windows(input, out, window, [&](PooledWindow w) {
    for (int32_t c = 0; c < channels; c += kLanes) {
      const int32_t lanes = channels - c < kLanes ? channels - c : kLanes;
      pool_lanes(w.corner + c, w.out + c, lanes, w.rows, w.columns, w.row_bytes, channels);
    }
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_avg_pool2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_avg_pool2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::mve
