#include "tests/kernels_device/float_calls.hpp"

namespace device {
namespace {

constexpr rt::ScalarType kFloat = rt::ScalarType::kFloat;

int32_t output_size(int32_t input, int32_t kernel, int32_t stride, int32_t padding) {
  return (input + 2 * padding - kernel) / stride + 1;
}

}  // namespace

void call_float_avg_pool2d(Call& call, Random& random, const ConvolutionShape& s, Layout layout,
                           Floats floats) {
  const bool last = layout == Layout::kChannelsLast;
  fill_floats(call.tensor(kFloat, {s.images, s.in_channels, s.height, s.width}, false, last),
              random, floats);
  call.list({s.kernel_h, s.kernel_w});
  call.list({s.stride_h, s.stride_w});
  call.list({s.padding_h, s.padding_w});
  call.boolean(false);
  call.boolean(random.one_in(2));
  if (random.one_in(3)) {
    call.integer(random.choice<int32_t>({1, 7, -3}));
  } else {
    call.none();
  }
  call.out(kFloat,
           {s.images, s.in_channels, output_size(s.height, s.kernel_h, s.stride_h, s.padding_h),
            output_size(s.width, s.kernel_w, s.stride_w, s.padding_w)},
           last);
}

void call_mean(Call& call, Random& random, const ImageShape& s, Floats floats) {
  fill_floats(call.tensor(kFloat, {1, s.channels, s.height, s.width}, false), random, floats);
  call.list({2, 3});
  call.boolean(true);
  call.none();
  call.out(kFloat, {1, s.channels, 1, 1});
}

void random_float_avg_pool2d(Call& call, Random& random, Floats floats) {
  ConvolutionShape shape = random_window(random);
  shape.padding_h = random.integer(0, shape.kernel_h / 2);
  shape.padding_w = random.integer(0, shape.kernel_w / 2);
  shape.height += shape.kernel_h;
  shape.width += shape.kernel_w;
  shape.in_channels = random.choice<int32_t>({7, 8, 9, 64, 65, 71, 72, random.integer(1, 20)});
  const Layout layout = random.one_in(6) ? Layout::kRowMajor : Layout::kChannelsLast;
  call_float_avg_pool2d(call, random, shape, layout, floats);
}

void random_mean(Call& call, Random& random, Floats floats) {
  const int32_t images = random.integer(1, 2);
  const int32_t channels = random.choice<int32_t>({8, 9, 64, 70, random.integer(1, 20)});
  const int32_t height = random.integer(1, 6);
  const int32_t width = random.integer(1, 6);
  const bool last = !random.one_in(4);
  fill_floats(call.tensor(kFloat, {images, channels, height, width}, false, last), random, floats);
  const bool keep = random.one_in(2);
  const bool both = !random.one_in(4);
  if (both) {
    call.list({random.choice<int32_t>({2, -2}), -1});
  } else {
    call.list({3});
  }
  call.boolean(keep);
  call.none();
  if (keep) {
    call.out(kFloat, {images, channels, both ? 1 : height, 1}, last);
  } else if (both) {
    call.out(kFloat, {images, channels});
  } else {
    call.out(kFloat, {images, channels, height});
  }
}

}  // namespace device
