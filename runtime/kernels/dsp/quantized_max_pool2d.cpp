// cortex_m::quantized_max_pool2d with the DSP extension: four channels at a time.

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/int8_pool.hpp"
#include "runtime/kernels/nhwc.hpp"
#include "runtime/kernels/pooled_window.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
namespace {

enum Argument : uint32_t { kActivationMin = 8, kActivationMax = 9, kOut = 10 };

constexpr int32_t kQuad = 4;

// SSUB8 sets a flag for each byte that is not below; SEL picks by them.
uint32_t larger(uint32_t a, uint32_t b) {
  uint32_t unused = 0;
  asm("ssub8 %1, %0, %2\n\t"
      "sel %0, %0, %2"
      : "+r"(a), "=&r"(unused)
      : "r"(b));
  return a;
}

// One output of four channels. Not inlined: the walk would take registers from its loop.
[[gnu::noinline]] void pool_quad(const int8_t* corner, int8_t* out, int32_t rows, int32_t columns,
                                 int32_t row_bytes, int32_t channels) {
  uint32_t largest = 0x8080'8080U;
  for (int32_t y = 0; y < rows; ++y, corner += row_bytes) {
    const int8_t* in = corner;
    for (int32_t x = 0; x < columns; ++x, in += channels) largest = larger(largest, load_word(in));
  }
  store_word(out, largest);
}

Error prepare(Args& args, Needs& needs) { return rt_checks_quantized_max_pool2d(args, needs); }

Error run(const Args& args, std::span<std::byte> temporary) {
  const Tensor& input = args.tensor(PoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const int32_t channels = input.size(1);
  if (channels < kQuad) return rt_fallback_quantized_max_pool2d(args, temporary);
  pool_windows(input, out, pool_window(args, out), [&](PooledWindow window) {
    for (int32_t c = 0; c < channels; c += kQuad) {
      // The last four channels are done again as far as they were done.
      const int32_t first = c < channels - kQuad ? c : channels - kQuad;
      pool_quad(window.corner + first, window.out + first, window.rows, window.columns,
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

}  // namespace rt::kernels::dsp
