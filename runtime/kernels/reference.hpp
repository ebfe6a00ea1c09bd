// The reference kernels by name, for faster ones that hand on what does not suit them.
#pragma once

#include "runtime/core/kernel.hpp"

namespace rt::kernels::reference {

// Defined where the build puts a faster kernel in their place (RT_KERNEL_ISA in
// runtime/CMakeLists.txt).
extern const Kernel add;
extern const Kernel addmm;
extern const Kernel avg_pool2d;
extern const Kernel bmm;
extern const Kernel clamp;
extern const Kernel convolution;
extern const Kernel dequantize_per_tensor;
extern const Kernel float_log_softmax;
extern const Kernel float_softmax;
extern const Kernel gelu;
extern const Kernel hardtanh;
extern const Kernel linear;
extern const Kernel maximum;
extern const Kernel mean;
extern const Kernel minimum;
extern const Kernel mm;
extern const Kernel mul;
extern const Kernel native_batch_norm;
extern const Kernel native_layer_norm;
extern const Kernel quantize_per_tensor;
extern const Kernel quantized_activation;
extern const Kernel quantized_add;
extern const Kernel quantized_avg_pool2d;
extern const Kernel quantized_batch_matmul;
extern const Kernel quantized_conv2d;
extern const Kernel quantized_depthwise_conv2d;
extern const Kernel quantized_linear;
extern const Kernel quantized_max_pool2d;
extern const Kernel quantized_mul;
extern const Kernel quantized_transpose_conv2d;
extern const Kernel relu;
extern const Kernel sigmoid;
extern const Kernel softmax;
extern const Kernel sub;

}  // namespace rt::kernels::reference

// What runs a reference kernel, by a name that an image's builder can point elsewhere: an image for
// one program leaves out the kernels that none of its calls falls back to (bench/deployment.py).
#define RT_FALLBACK(identifier)                                           \
  extern "C" ::rt::Error rt_fallback_##identifier(const ::rt::Args& args, \
                                                  std::span<std::byte> temporary)
RT_FALLBACK(add);
RT_FALLBACK(addmm);
RT_FALLBACK(avg_pool2d);
RT_FALLBACK(bmm);
RT_FALLBACK(clamp);
RT_FALLBACK(convolution);
RT_FALLBACK(dequantize_per_tensor);
RT_FALLBACK(float_log_softmax);
RT_FALLBACK(float_softmax);
RT_FALLBACK(gelu);
RT_FALLBACK(hardtanh);
RT_FALLBACK(linear);
RT_FALLBACK(maximum);
RT_FALLBACK(mean);
RT_FALLBACK(minimum);
RT_FALLBACK(mm);
RT_FALLBACK(mul);
RT_FALLBACK(native_batch_norm);
RT_FALLBACK(native_layer_norm);
RT_FALLBACK(quantize_per_tensor);
RT_FALLBACK(quantized_activation);
RT_FALLBACK(quantized_add);
RT_FALLBACK(quantized_avg_pool2d);
RT_FALLBACK(quantized_batch_matmul);
RT_FALLBACK(quantized_conv2d);
RT_FALLBACK(quantized_depthwise_conv2d);
RT_FALLBACK(quantized_linear);
RT_FALLBACK(quantized_max_pool2d);
RT_FALLBACK(quantized_mul);
RT_FALLBACK(quantized_transpose_conv2d);
RT_FALLBACK(relu);
RT_FALLBACK(sigmoid);
RT_FALLBACK(softmax);
RT_FALLBACK(sub);
// What takes its place there. @return operator-missing
RT_FALLBACK(none);

// The same of a kernel's checks, which every call needs.
#define RT_CHECKS(identifier) \
  extern "C" ::rt::Error rt_checks_##identifier(::rt::Args& args, ::rt::Needs& needs)
RT_CHECKS(add);
RT_CHECKS(addmm);
RT_CHECKS(avg_pool2d);
RT_CHECKS(bmm);
RT_CHECKS(clamp);
RT_CHECKS(convolution);
RT_CHECKS(dequantize_per_tensor);
RT_CHECKS(float_log_softmax);
RT_CHECKS(float_softmax);
RT_CHECKS(gelu);
RT_CHECKS(hardtanh);
RT_CHECKS(linear);
RT_CHECKS(maximum);
RT_CHECKS(mean);
RT_CHECKS(minimum);
RT_CHECKS(mm);
RT_CHECKS(mul);
RT_CHECKS(native_batch_norm);
RT_CHECKS(native_layer_norm);
RT_CHECKS(quantize_per_tensor);
RT_CHECKS(quantized_activation);
RT_CHECKS(quantized_add);
RT_CHECKS(quantized_avg_pool2d);
RT_CHECKS(quantized_batch_matmul);
RT_CHECKS(quantized_conv2d);
RT_CHECKS(quantized_depthwise_conv2d);
RT_CHECKS(quantized_linear);
RT_CHECKS(quantized_max_pool2d);
RT_CHECKS(quantized_mul);
RT_CHECKS(quantized_transpose_conv2d);
RT_CHECKS(relu);
RT_CHECKS(sigmoid);
RT_CHECKS(softmax);
RT_CHECKS(sub);

// Registers a reference kernel; where CMake says that a faster one is registered instead, gives it
// its name above.
#ifdef RT_REPLACED
#define RT_REFERENCE_KERNEL(identifier, name, prepare, run)                     \
  constinit const ::rt::Kernel reference::identifier = {name, 0, prepare, run}; \
  RT_CHECKS(identifier) { return prepare(args, needs); }                        \
  RT_FALLBACK(identifier) { return run(args, temporary); }                      \
  static_assert(true)
#else
#define RT_REFERENCE_KERNEL(identifier, name, prepare, run) RT_KERNEL(name, prepare, run)
#endif
