#include "tests/kernels_device/float_calls.hpp"

#include <bit>

namespace device {
namespace {

int32_t output_size(int32_t input, int32_t kernel, int32_t stride, int32_t padding,
                    int32_t dilation) {
  return (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

float special(Random& random) {
  return std::bit_cast<float>(
      random.choice<uint32_t>({0x7F80'0000, 0xFF80'0000, 0x7FC0'0000, 0x0000'0000, 0x8000'0000,
                               0x7F7F'FFFF, 0xFF7F'FFFF, 0x7149'F2CA}));
}

}  // namespace

void fill_floats(rt::Tensor& tensor, Random& random, Floats floats) {
  const bool strewn = floats == Floats::kAny && random.one_in(3);
  for (uint32_t i = 0; i < tensor.numel(); ++i) {
    // 24 bits and a sign, mostly between 2^-9 and 1.
    const auto digits = static_cast<float>(random.integer(-0xFF'FFFF, 0xFF'FFFF));
    float value = digits * (random.one_in(4) ? 0x1p-30F : 0x1p-24F);
    if (floats == Floats::kSmall) value *= random.one_in(3) ? 0x1p-100F : 0x1p-63F;
    if (strewn && random.one_in(40)) value = special(random);
    tensor.as<float>()[i] = value;
  }
}

void call_convolution(Call& call, Random& random, const ConvolutionShape& shape, Layout layout,
                      Floats floats) {
  const bool last = layout == Layout::kChannelsLast;
  const auto tensor = [&](Sizes sizes, bool constant) {
    fill_floats(call.tensor(rt::ScalarType::kFloat, sizes, constant, last), random, floats);
  };
  tensor({shape.images, shape.in_channels, shape.height, shape.width}, false);
  tensor({shape.out_channels, shape.in_channels / shape.groups, shape.kernel_h, shape.kernel_w},
         true);
  if (random.one_in(3)) {
    call.none();
  } else {
    tensor({shape.out_channels}, true);
  }
  call.list({shape.stride_h, shape.stride_w});
  call.list({shape.padding_h, shape.padding_w});
  call.list({shape.dilation_h, shape.dilation_w});
  call.boolean(false);
  call.list({0, 0});
  call.integer(shape.groups);
  call.out(
      rt::ScalarType::kFloat,
      {shape.images, shape.out_channels,
       output_size(shape.height, shape.kernel_h, shape.stride_h, shape.padding_h, shape.dilation_h),
       output_size(shape.width, shape.kernel_w, shape.stride_w, shape.padding_w, shape.dilation_w)},
      last);
}

void random_convolution(Call& call, Random& random, Floats floats) {
  ConvolutionShape shape = random_window(random);
  const int32_t depth = random.choice<int32_t>({1, 1, 2, 3, 4, 5, 8, random.integer(1, 20)});
  shape.groups = random.choice<int32_t>({1, 1, 1, 1, 2, 3});
  if (random.one_in(3)) {  // depthwise, seldom with a multiplier
    shape.groups = random.choice<int32_t>({3, 8, 9, 16, 23, 64, 67, 72, random.integer(1, 80)});
    shape.in_channels = shape.groups;
    shape.out_channels = shape.groups * (random.one_in(5) ? 2 : 1);
  } else {
    shape.in_channels = depth * shape.groups;
    shape.out_channels =
        shape.groups * random.choice<int32_t>({1, 3, 4, 5, 8, 11, random.integer(1, 18)});
  }
  if (random.one_in(5)) shape.kernel_h = 1;
  if (random.one_in(3)) shape.dilation_w = 1;
  if (shape.height < shape.kernel_h) shape.height = shape.kernel_h;
  const Layout layout = random.one_in(8) ? Layout::kRowMajor : Layout::kChannelsLast;
  call_convolution(call, random, shape, layout, floats);
}

namespace {

void add_floats(Call& call, Random& random, Sizes sizes, bool constant, Floats floats) {
  fill_floats(call.tensor(rt::ScalarType::kFloat, sizes, constant), random, floats);
}

MatmulShape random_matmul(Random& random) {
  return {random.integer(1, 3), random.choice<int32_t>({1, 1, 2, 3, 4, random.integer(1, 9)}),
          random.choice<int32_t>({1, 2, 3, 4, 8, random.integer(1, 70)}),
          random.choice<int32_t>({1, 3, 4, 5, 8, 9, 10, random.integer(1, 40)}), random.one_in(2)};
}

}  // namespace

void call_mm(Call& call, Random& random, const MatmulShape& shape, Floats floats) {
  add_floats(call, random, {shape.rows, shape.depth}, false, floats);
  add_floats(call, random, {shape.depth, shape.columns}, true, floats);
  if (shape.transposed) call.swap_last();
  call.out(rt::ScalarType::kFloat, {shape.rows, shape.columns});
}

void call_bmm(Call& call, Random& random, const MatmulShape& shape, Floats floats) {
  add_floats(call, random, {shape.batch, shape.rows, shape.depth}, false, floats);
  add_floats(call, random, {shape.batch, shape.depth, shape.columns}, false, floats);
  if (shape.transposed) call.swap_last();
  call.out(rt::ScalarType::kFloat, {shape.batch, shape.rows, shape.columns});
}

void call_addmm(Call& call, Random& random, const MatmulShape& shape, Floats floats) {
  add_floats(call, random, {shape.columns}, true, floats);
  add_floats(call, random, {shape.rows, shape.depth}, false, floats);
  add_floats(call, random, {shape.depth, shape.columns}, true, floats);
  if (shape.transposed) call.swap_last();
  call.integer(1);
  call.integer(1);
  call.out(rt::ScalarType::kFloat, {shape.rows, shape.columns});
}

void call_float_linear(Call& call, Random& random, const MatmulShape& shape, Floats floats) {
  add_floats(call, random, {shape.batch, shape.rows, shape.depth}, false, floats);
  add_floats(call, random, {shape.columns, shape.depth}, true, floats);
  if (random.one_in(3)) {
    call.none();
  } else {
    add_floats(call, random, {shape.columns}, true, floats);
  }
  call.out(rt::ScalarType::kFloat, {shape.batch, shape.rows, shape.columns});
}

void random_mm(Call& call, Random& random, Floats floats) {
  call_mm(call, random, random_matmul(random), floats);
}
void random_bmm(Call& call, Random& random, Floats floats) {
  call_bmm(call, random, random_matmul(random), floats);
}
void random_float_linear(Call& call, Random& random, Floats floats) {
  call_float_linear(call, random, random_matmul(random), floats);
}

void random_addmm(Call& call, Random& random, Floats floats) {
  const MatmulShape shape = random_matmul(random);
  if (!random.one_in(5)) return call_addmm(call, random, shape, floats);
  // A column, or one number, and factors.
  add_floats(call, random, {random.one_in(2) ? shape.rows : 1, 1}, true, floats);
  add_floats(call, random, {shape.rows, shape.depth}, false, floats);
  add_floats(call, random, {shape.depth, shape.columns}, true, floats);
  call.real(random.choice<double>({0.0, 1.0, 0.5}));
  call.real(random.choice<double>({1.0, -1.5}));
  call.out(rt::ScalarType::kFloat, {shape.rows, shape.columns});
}

}  // namespace device
