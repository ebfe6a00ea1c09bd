// Calls of float32 kernels with arguments made on the device.
#pragma once

#include "tests/kernels_device/calls.hpp"

namespace device {

// kAny strews infinities, NaNs, zeros of both signs and huge numbers; products and sums of kUsual
// are never subnormal, kSmall's are, and operands too.
enum class Floats : uint8_t { kUsual, kAny, kSmall };

void fill_floats(rt::Tensor& tensor, Random& random, Floats floats);

// How the images and weights of a convolution lie in memory.
enum class Layout : uint8_t { kChannelsLast, kRowMajor };

void call_convolution(Call& call, Random& random, const ConvolutionShape& shape, Layout layout,
                      Floats floats);

// Random shapes.
void random_convolution(Call& call, Random& random, Floats floats);

}  // namespace device
