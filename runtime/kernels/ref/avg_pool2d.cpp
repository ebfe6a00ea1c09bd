// aten::avg_pool2d, float32.

#include "runtime/kernels/float_pool.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kCeilMode = 4, kCountIncludePad, kDivisorOverride, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tlllbbjo="));
  if (!args.is_none(kDivisorOverride) && args.integer(kDivisorOverride) == 0) {
    return args.refuse(kDivisorOverride, Error::kArgumentValue);
  }
  return check_float_pool(args, kOut, args.boolean(kCeilMode), 1, 1);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(FloatPoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  const Window window = float_pool_window(args, out, 1, 1);
  const Strides strides = input.strides();
  const bool include_pad = args.boolean(kCountIncludePad);
  const int32_t divisor_override =
      args.is_none(kDivisorOverride) ? 0 : args.integer(kDivisorOverride);

  for_each_output(input, out, [&](const float* plane, int32_t at, int32_t y, int32_t x) {
    const Axis::Range ys = window.h.range(y);
    const Axis::Range xs = window.w.range(x);
    float sum = 0.0F;
    for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
      const float* line = plane + (ys.origin + ky) * strides.of[2];
      for (int32_t kx = xs.begin; kx < xs.end; ++kx) sum += line[(xs.origin + kx) * strides.of[3]];
    }
    int32_t divisor = divisor_override;
    if (divisor == 0) {
      divisor = include_pad ? padded_count(window.h, y) * padded_count(window.w, x)
                            : (ys.end - ys.begin) * (xs.end - xs.begin);
    }
    out.as<float>()[at] = sum / static_cast<float>(divisor);
  });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(avg_pool2d, "aten::avg_pool2d.out", prepare, run);

}  // namespace rt::kernels
