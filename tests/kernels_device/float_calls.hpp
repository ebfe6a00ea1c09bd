// Calls of float32 kernels with arguments made on the device.
#pragma once

#include "runtime/kernels/reference.hpp"
#include "tests/kernels_device/calls.hpp"

// What the build did not replace is not there.
namespace rt::kernels::reference {
[[gnu::weak]] extern const Kernel addmm;
[[gnu::weak]] extern const Kernel bmm;
[[gnu::weak]] extern const Kernel convolution;
[[gnu::weak]] extern const Kernel linear;
[[gnu::weak]] extern const Kernel mm;
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

// Random shapes.
void random_convolution(Call& call, Random& random, Floats floats);
void random_mm(Call& call, Random& random, Floats floats);
void random_bmm(Call& call, Random& random, Floats floats);
void random_addmm(Call& call, Random& random, Floats floats);
void random_float_linear(Call& call, Random& random, Floats floats);

}  // namespace device
