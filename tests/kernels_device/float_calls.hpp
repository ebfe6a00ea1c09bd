// Calls of float32 kernels with arguments made on the device.
#pragma once

#include "runtime/kernels/reference.hpp"
#include "tests/kernels_device/calls.hpp"

// What the build did not replace is not there.
namespace rt::kernels::reference {
[[gnu::weak]] extern const Kernel add;
[[gnu::weak]] extern const Kernel addmm;
[[gnu::weak]] extern const Kernel avg_pool2d;
[[gnu::weak]] extern const Kernel bmm;
[[gnu::weak]] extern const Kernel clamp;
[[gnu::weak]] extern const Kernel convolution;
[[gnu::weak]] extern const Kernel float_log_softmax;
[[gnu::weak]] extern const Kernel float_softmax;
[[gnu::weak]] extern const Kernel gelu;
[[gnu::weak]] extern const Kernel hardtanh;
[[gnu::weak]] extern const Kernel linear;
[[gnu::weak]] extern const Kernel mean;
[[gnu::weak]] extern const Kernel mm;
[[gnu::weak]] extern const Kernel mul;
[[gnu::weak]] extern const Kernel native_batch_norm;
[[gnu::weak]] extern const Kernel native_layer_norm;
[[gnu::weak]] extern const Kernel relu;
[[gnu::weak]] extern const Kernel sigmoid;
[[gnu::weak]] extern const Kernel sub;
}  // namespace rt::kernels::reference

namespace device {

// kAny strews infinities, NaNs, zeros of both signs and huge numbers; products and sums of kUsual
// are never subnormal, kSmall's are, and operands too.
enum class Floats : uint8_t { kUsual, kAny, kSmall };

void fill_floats(rt::Tensor& tensor, Random& random, Floats floats);

// How the images and weights of a convolution lie in memory.
enum class Layout : uint8_t { kChannelsLast, kRowMajor };

void call_convolution(Call& call, Random& random, const ConvolutionShape& shape, Layout layout,
                      Floats floats);

struct MatmulShape {
  int32_t batch, rows, depth, columns;
  bool transposed;  // how the second factor lies
};
void call_mm(Call& call, Random& random, const MatmulShape& shape, Floats floats);
void call_bmm(Call& call, Random& random, const MatmulShape& shape, Floats floats);
// `self` is a row of the product's.
void call_addmm(Call& call, Random& random, const MatmulShape& shape, Floats floats);
void call_float_linear(Call& call, Random& random, const MatmulShape& shape, Floats floats);

// An image of one batch, channels last.
struct ImageShape {
  int32_t channels, height, width;
};
void call_relu(Call& call, Random& random, const ImageShape& shape, Floats floats);
void call_hardtanh(Call& call, Random& random, const ImageShape& shape, Floats floats);
void call_float_add(Call& call, Random& random, const ImageShape& shape, Floats floats);
void call_mul(Call& call, Random& random, const ImageShape& shape, Floats floats);
void call_batch_norm(Call& call, Random& random, const ImageShape& shape, Floats floats);

// Of the last of two dimensions, with weight and bias or one of them.
void call_layer_norm(Call& call, Random& random, int32_t rows, int32_t length, bool weight,
                     bool bias, Floats floats);

// Along the last of two dimensions, or the first.
void call_float_softmax(Call& call, Random& random, int32_t rows, int32_t columns, int32_t along,
                        Floats floats);
void call_sigmoid(Call& call, Random& random, int32_t count, Floats floats);
void call_gelu(Call& call, Random& random, int32_t count, const char* approximate, Floats floats);

// Groups, output channels and dilation of the shape are not used.
void call_float_avg_pool2d(Call& call, Random& random, const ConvolutionShape& shape, Layout layout,
                           Floats floats);
// Over height and width.
void call_mean(Call& call, Random& random, const ImageShape& shape, Floats floats);

// Random shapes.
void random_convolution(Call& call, Random& random, Floats floats);
void random_mm(Call& call, Random& random, Floats floats);
void random_bmm(Call& call, Random& random, Floats floats);
void random_addmm(Call& call, Random& random, Floats floats);
void random_float_linear(Call& call, Random& random, Floats floats);
void random_relu(Call& call, Random& random, Floats floats);
void random_hardtanh(Call& call, Random& random, Floats floats);
void random_clamp(Call& call, Random& random, Floats floats);
// Of any number type, broadcast.
void random_float_add(Call& call, Random& random, Floats floats);
void random_mul(Call& call, Random& random, Floats floats);
void random_batch_norm(Call& call, Random& random, Floats floats);
void random_layer_norm(Call& call, Random& random, Floats floats);
void random_float_avg_pool2d(Call& call, Random& random, Floats floats);
// Over any one or two dimensions.
void random_mean(Call& call, Random& random, Floats floats);
void random_float_softmax(Call& call, Random& random, Floats floats);
void random_sigmoid(Call& call, Random& random, Floats floats);
void random_gelu(Call& call, Random& random, Floats floats);

// An element of an output as it should be, in double precision by the C library, and by how much
// either kernel may miss it: what roundings of the formula's steps add up to.
struct Exact {
  double value, tolerance;
};
Exact exact_softmax(const rt::Args& args, uint32_t i);
Exact exact_log_softmax(const rt::Args& args, uint32_t i);
Exact exact_sigmoid(const rt::Args& args, uint32_t i);
Exact exact_gelu(const rt::Args& args, uint32_t i);

}  // namespace device
