// aten::avg_pool2d.out, channels last.

#include "runtime/kernels/float_pool.hpp"
#include "runtime/kernels/fpu/float_average.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput = 0, kCeilMode = 4, kCountIncludePad, kDivisorOverride, kOut };

bool suits(const Args& args) {
  const Tensor& input = args.tensor(kInput);
  return input.is_channels_last() && args.tensor(kOut).is_channels_last() &&
         input.size(1) >= kLaneChannels;
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_avg_pool2d(args, needs));
  if (suits(args)) needs.temporary_bytes = ones_bytes(args.tensor(kInput).size(1));
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_avg_pool2d(args, temporary);
  const Tensor& input = args.tensor(kInput);
  Tensor& output = args.tensor(kOut);
  const Window window = float_pool_window(args, output, 1, 1);
  const auto& [h, w] = window;
  const int32_t channels = input.size(1);
  const int32_t line = w.input * channels;
  const bool include_pad = args.boolean(kCountIncludePad);
  const int32_t divisor_override =
      args.is_none(kDivisorOverride) ? 0 : args.integer(kDivisorOverride);
  float* const ones = reinterpret_cast<float*>(temporary.data());
  fill_ones(ones, channels);
  const float* image = input.as<float>();
  float* out = output.as<float>();
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * line) {
    for (int32_t y = 0; y < h.output; ++y) {
      const Axis::Range ys = h.range(y);
      for (int32_t x = 0; x < w.output; ++x, out += channels) {
        const Axis::Range xs = w.range(x);
        const Area area = {
            image + (ys.origin + ys.begin) * line + (xs.origin + xs.begin) * channels,
            ys.end - ys.begin, xs.end - xs.begin, line};
        int32_t divisor = divisor_override;
        if (divisor == 0) {
          divisor =
              include_pad ? padded_count(h, y) * padded_count(w, x) : area.rows * area.columns;
        }
        average(area, channels, static_cast<float>(divisor), ones, out);
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::avg_pool2d.out", prepare, run);

}  // namespace rt::kernels::fpu
