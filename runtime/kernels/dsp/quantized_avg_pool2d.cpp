// cortex_m::quantized_avg_pool2d with the DSP extension: four channels at a time.

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/pooled_window.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
namespace {

constexpr uint32_t kOut = 9;
constexpr int32_t kQuad = 4;
constexpr int32_t kLargestCount = 255;  // 255 * 128 fits 16 bits

int8_t mean(int32_t sum, int32_t count) {
  const int32_t half = count / 2;
  return static_cast<int8_t>((sum > 0 ? sum + half : sum - half) / count);
}

// One output of four channels. Not inlined: the walk would take registers from its loop.
[[gnu::noinline]] void pool_quad(const int8_t* corner, int8_t* out, int32_t rows, int32_t columns,
                                 int32_t row_bytes, int32_t channels) {
  int32_t even = 0;
  int32_t odd = 0;
  for (int32_t y = 0; y < rows; ++y, corner += row_bytes) {
    const int8_t* in = corner;
    for (int32_t x = 0; x < columns; ++x, in += channels) {
      const uint32_t bytes = load_word(in);
      even = widen_even(static_cast<uint32_t>(even), bytes);
      odd = widen_odd(static_cast<uint32_t>(odd), bytes);
    }
  }
  const int32_t count = rows * columns;
  out[0] = mean(static_cast<int16_t>(even), count);
  out[1] = mean(static_cast<int16_t>(odd), count);
  out[2] = mean(even >> 16, count);
  out[3] = mean(odd >> 16, count);
}

bool suits(const Args& args, const Window& window) {
  return args.tensor(PoolArguments::kInput).size(1) >= kQuad &&
         window.h.kernel <= kLargestCount / window.w.kernel;
}

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_avg_pool2d(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const Window window = pool_window(args, out);
  if (!suits(args, window)) return rt_fallback_quantized_avg_pool2d(args, temporary);
  const int32_t channels = input.size(1);
  pool_windows(input, out, window, [&](PooledWindow w) {
    for (int32_t c = 0; c < channels; c += kQuad) {
      // The last four channels are done again as far as they were done.
      const int32_t first = c < channels - kQuad ? c : channels - kQuad;
      pool_quad(w.corner + first, w.out + first, w.rows, w.columns, w.row_bytes, channels);
    }
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_avg_pool2d.out", prepare, run);
RT_NHWC_KERNEL("cortex_m::quantized_avg_pool2d_nhwc.out", prepare, run);

}  // namespace rt::kernels::dsp
