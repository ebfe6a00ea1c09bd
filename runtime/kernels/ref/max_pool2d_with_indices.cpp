// aten::max_pool2d_with_indices, float32; an index counts within its plane, row by row.

#include "runtime/kernels/float_pool.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kDilation = 4, kCeilMode, kOut, kIndices };

Error prepare(Args& args, Needs&) {
  // The last argument is the list of both outputs.
  RT_TRY(args.match("tllllboo_"));
  RT_TRY(expect_type(args, {kIndices}, ScalarType::kLong));
  if (!same_layout(args.tensor(kOut), args.tensor(kIndices))) {
    return args.refuse(kIndices, Error::kArgumentLayout);
  }
  int32_t h = 0;
  int32_t w = 0;
  RT_TRY(read_pair(args, kDilation, 1, h, w));
  return check_float_pool(args, kOut, args.boolean(kCeilMode), h, w);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(FloatPoolArguments::kInput);
  Tensor& out = args.tensor(kOut);
  int64_t* indices = args.tensor(kIndices).as<int64_t>();
  int32_t dilation_h = 0;
  int32_t dilation_w = 0;
  get_pair(args, kDilation, dilation_h, dilation_w);
  const Window window = float_pool_window(args, out, dilation_h, dilation_w);
  const Strides strides = input.strides();

  for_each_output(input, out, [&](const float* plane, int32_t at, int32_t y, int32_t x) {
    const Axis::Range ys = window.h.range(y);
    const Axis::Range xs = window.w.range(x);
    int32_t row = ys.origin + ys.begin * dilation_h;
    int32_t column = xs.origin + xs.begin * dilation_w;
    int32_t index = row * window.w.input + column;
    float largest = -__builtin_inff();
    for (int32_t ky = ys.begin; ky < ys.end; ++ky, row += dilation_h) {
      column = xs.origin + xs.begin * dilation_w;
      for (int32_t kx = xs.begin; kx < xs.end; ++kx, column += dilation_w) {
        const float value = plane[row * strides.of[2] + column * strides.of[3]];
        // A NaN wins, as in torch.
        if (value > largest || value != value) {
          largest = value;
          index = row * window.w.input + column;
        }
      }
    }
    out.as<float>()[at] = largest;
    indices[at] = index;
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::max_pool2d_with_indices.out", prepare, run);

}  // namespace rt::kernels
