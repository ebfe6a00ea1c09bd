// The reference kernels by name, for faster ones that hand on what does not suit them.
#pragma once

#include "runtime/core/kernel.hpp"

namespace rt::kernels::reference {

// Defined where the build puts a faster kernel in their place (RT_KERNEL_ISA in
// runtime/CMakeLists.txt).
extern const Kernel dequantize_per_tensor;
extern const Kernel quantize_per_tensor;
extern const Kernel quantized_add;
extern const Kernel quantized_avg_pool2d;
extern const Kernel quantized_batch_matmul;
extern const Kernel quantized_conv2d;
extern const Kernel quantized_depthwise_conv2d;
extern const Kernel quantized_linear;
extern const Kernel quantized_max_pool2d;
extern const Kernel softmax;

}  // namespace rt::kernels::reference

// Registers a reference kernel; where CMake says that a faster one is registered instead, gives it
// its name above.
#ifdef RT_REPLACED
#define RT_REFERENCE_KERNEL(identifier, name, prepare, run) \
  constinit const ::rt::Kernel reference::identifier = {name, prepare, run}
#else
#define RT_REFERENCE_KERNEL(identifier, name, prepare, run) RT_KERNEL(name, prepare, run)
#endif
