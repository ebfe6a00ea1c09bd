// Counts the kernels of a board, reference and fast, at the shapes that models have.
//
// Lines: `row <operator> <shape> macs <n> outputs <n> reference <ticks> fast <ticks> scratch
// <bytes>`, `overhead <ticks>` of an empty window, `end`.

#include <cstring>
#include <string_view>

#include "firmware/port/port.hpp"
#include "runtime/kernels/reference.hpp"
#include "tests/kernels_device/calls.hpp"
#include "tests/kernels_device/float_calls.hpp"
#include "tests/kernels_device/print.hpp"

// What the build did not replace is not there.
namespace rt::kernels::reference {
[[gnu::weak]] extern const Kernel dequantize_per_tensor;
[[gnu::weak]] extern const Kernel quantize_per_tensor;
[[gnu::weak]] extern const Kernel quantized_add;
[[gnu::weak]] extern const Kernel quantized_avg_pool2d;
[[gnu::weak]] extern const Kernel quantized_batch_matmul;
[[gnu::weak]] extern const Kernel quantized_conv2d;
[[gnu::weak]] extern const Kernel quantized_depthwise_conv2d;
[[gnu::weak]] extern const Kernel quantized_linear;
[[gnu::weak]] extern const Kernel quantized_max_pool2d;
[[gnu::weak]] extern const Kernel quantized_mul;
[[gnu::weak]] extern const Kernel quantized_activation;
[[gnu::weak]] extern const Kernel maximum;
[[gnu::weak]] extern const Kernel minimum;
[[gnu::weak]] extern const Kernel quantized_transpose_conv2d;
[[gnu::weak]] extern const Kernel softmax;
}  // namespace rt::kernels::reference

namespace device {
namespace {

namespace reference = rt::kernels::reference;

uint32_t ticks_of(const rt::Kernel& kernel, const rt::Args& args, std::span<std::byte> scratch) {
  fw::counter_restart();
  const rt::Error error = kernel.run(args, scratch);
  const uint64_t ticks = fw::counter_read();
  if (error != rt::Error::kOk) Print("bad").word(kernel.name);
  return static_cast<uint32_t>(ticks);
}

// `make` fills in the call; `macs` are those of one inference, 0 where there are none.
template <typename Make>
void count(const rt::Kernel* slow, const char* shape, uint32_t macs, Make make) {
  if (slow == nullptr) return;
  Memory memory;
  Call call(memory, Placement::kAligned);
  Random random(1);
  make(call, random);
  rt::Args args = call.args();
  rt::Needs needs;
  const std::string_view name = slow->name;
  const size_t dot = name.rfind('.');
  const rt::Kernel& fast =
      *rt::find_kernel({name.data(), dot}, {name.data() + dot + 1, name.size() - dot - 1});
  if (fast.prepare(args, needs) != rt::Error::kOk) Print("bad").word(name);
  std::byte* const scratch = memory.take(needs.temporary_bytes, Placement::kAligned);
  const uint32_t reference_ticks = ticks_of(*slow, args, {});
  const uint32_t fast_ticks = ticks_of(fast, args, {scratch, needs.temporary_bytes});
  Print("row")
      .word(name)
      .word(shape)
      .word("macs")
      .number(macs)
      .word("outputs")
      .number(call.out().numel())
      .word("reference")
      .number(reference_ticks)
      .word("fast")
      .number(fast_ticks)
      .word("scratch")
      .number(needs.temporary_bytes);
}

struct Square {
  const char* text;
  int32_t height, width, in, out, kernel_h, kernel_w, stride, padding_h, padding_w;
  ConvolutionShape shape() const {
    return {1,        in,     out,    1,         height,    width, kernel_h,
            kernel_w, stride, stride, padding_h, padding_w, 1,     1};
  }
  uint32_t outputs() const {
    const int32_t h = (height + 2 * padding_h - kernel_h) / stride + 1;
    const int32_t w = (width + 2 * padding_w - kernel_w) / stride + 1;
    return static_cast<uint32_t>(h * w * out);
  }
};

// Of DS-CNN, ResNet8 and MobileNetV1-0.25 at 96 pixels, and one with odd numbers.
constexpr Square kConvolutions[] = {
    {"1x1-64-64@25x5", 25, 5, 64, 64, 1, 1, 1, 0, 0},
    {"1x1-8-16@48x48", 48, 48, 8, 16, 1, 1, 1, 0, 0},
    {"1x1-128-128@6x6", 6, 6, 128, 128, 1, 1, 1, 0, 0},
    {"1x1-256-256@3x3", 3, 3, 256, 256, 1, 1, 1, 0, 0},
    {"1x1-16-32@32x32/2", 32, 32, 16, 32, 1, 1, 2, 0, 0},
    {"3x3-3-16@32x32", 32, 32, 3, 16, 3, 3, 1, 1, 1},
    {"3x3-3-8@96x96/2", 96, 96, 3, 8, 3, 3, 2, 1, 1},
    {"3x3-16-16@32x32", 32, 32, 16, 16, 3, 3, 1, 1, 1},
    {"3x3-64-64@8x8", 8, 8, 64, 64, 3, 3, 1, 1, 1},
    {"5x3-7-13@11x9", 11, 9, 7, 13, 5, 3, 1, 2, 1},
};
constexpr Square kDepthwise[] = {
    {"10x4-1-64@49x10/2", 49, 10, 1, 64, 10, 4, 2, 4, 1},
    {"3x3-64@25x5", 25, 5, 64, 64, 3, 3, 1, 1, 1},
    {"3x3-8@48x48", 48, 48, 8, 8, 3, 3, 1, 1, 1},
    {"3x3-16@48x48/2", 48, 48, 16, 16, 3, 3, 2, 1, 1},
    {"3x3-128@6x6", 6, 6, 128, 128, 3, 3, 1, 1, 1},
    {"3x3-256@3x3", 3, 3, 256, 256, 3, 3, 1, 1, 1},
    {"5x5-24@12x12", 12, 12, 24, 24, 5, 5, 1, 2, 2},
};

constexpr Square kFloatConvolutions[] = {
    {"1x1-64-64@25x5", 25, 5, 64, 64, 1, 1, 1, 0, 0},
    {"1x1-8-16@48x48", 48, 48, 8, 16, 1, 1, 1, 0, 0},
    {"1x1-256-256@3x3", 3, 3, 256, 256, 1, 1, 1, 0, 0},
    {"10x4-1-64@49x10/2", 49, 10, 1, 64, 10, 4, 2, 5, 1},
    {"3x3-3-16@32x32", 32, 32, 3, 16, 3, 3, 1, 1, 1},
    {"3x3-64-64@8x8", 8, 8, 64, 64, 3, 3, 1, 1, 1},
    {"5x3-7-13@11x9", 11, 9, 7, 13, 5, 3, 1, 2, 1},
};
constexpr Square kFloatDepthwise[] = {
    {"3x3-64@25x5", 25, 5, 64, 64, 3, 3, 1, 1, 1},
    {"3x3-8@48x48", 48, 48, 8, 8, 3, 3, 1, 1, 1},
    {"3x3-256@3x3", 3, 3, 256, 256, 3, 3, 1, 1, 1},
};

struct Matrix {
  const char* text;
  int32_t rows, depth, outputs;
};
constexpr Matrix kMatrices[] = {
    {"1x640-128", 1, 640, 128}, {"1x128-128", 1, 128, 128}, {"1x8-128", 1, 8, 128},
    {"1x64-10", 1, 64, 10},     {"16x32-96", 16, 32, 96},
};

void count_all() {
  for (const Square& s : kConvolutions) {
    const uint32_t macs = s.outputs() * static_cast<uint32_t>(s.in * s.kernel_h * s.kernel_w);
    count(&reference::quantized_conv2d, s.text, macs, [&](Call& call, Random& random) {
      call_conv2d(call, random, s.shape(), Scales::kUsual);
    });
  }
  for (const Square& s : kDepthwise) {
    const uint32_t macs = s.outputs() * static_cast<uint32_t>(s.kernel_h * s.kernel_w);
    count(&reference::quantized_depthwise_conv2d, s.text, macs, [&](Call& call, Random& random) {
      call_depthwise_conv2d(call, random, s.shape(), Scales::kUsual);
    });
  }
  for (const Square& s : kFloatConvolutions) {
    const uint32_t macs = s.outputs() * static_cast<uint32_t>(s.in * s.kernel_h * s.kernel_w);
    count(&reference::convolution, s.text, macs, [&](Call& call, Random& random) {
      call_convolution(call, random, s.shape(), Layout::kChannelsLast, Floats::kUsual);
    });
  }
  for (const Square& s : kFloatDepthwise) {
    const uint32_t macs = s.outputs() * static_cast<uint32_t>(s.kernel_h * s.kernel_w);
    count(&reference::convolution, s.text, macs, [&](Call& call, Random& random) {
      ConvolutionShape shape = s.shape();
      shape.groups = s.in;
      call_convolution(call, random, shape, Layout::kChannelsLast, Floats::kUsual);
    });
  }
  // A product for each weight and input, but for the few that fall into the padding.
  count(&reference::quantized_transpose_conv2d, "3x3-16-16@16x16*2", 16 * 16 * 16 * 16 * 9,
        [](Call& call, Random& random) {
          call_transpose_conv2d(call, random, {1, 16, 16, 1, 16, 16, 3, 3, 2, 2, 1, 1, 1, 1}, 1,
                                Scales::kUsual);
        });
  count(&reference::quantized_transpose_conv2d, "2x2-64-32@8x8*2", 64 * 32 * 8 * 8 * 4,
        [](Call& call, Random& random) {
          call_transpose_conv2d(call, random, {1, 64, 32, 1, 8, 8, 2, 2, 2, 2, 0, 0, 1, 1}, 0,
                                Scales::kUsual);
        });
  for (const Matrix& m : kMatrices) {
    const auto macs = static_cast<uint32_t>(m.rows * m.depth * m.outputs);
    count(&reference::quantized_linear, m.text, macs, [&](Call& call, Random& random) {
      call_linear(call, random, m.rows, m.depth, m.outputs, false, Scales::kUsual);
    });
  }
  for (const Matrix& m : kMatrices) {
    const auto macs = static_cast<uint32_t>(m.rows * m.depth * m.outputs);
    const MatmulShape shape = {1, m.rows, m.depth, m.outputs, false};
    count(&reference::addmm, m.text, macs,
          [&](Call& call, Random& random) { call_addmm(call, random, shape, Floats::kUsual); });
    count(&reference::linear, m.text, macs, [&](Call& call, Random& random) {
      call_float_linear(call, random, shape, Floats::kUsual);
    });
  }
  count(&reference::mm, "16x32-96", 16 * 32 * 96, [](Call& call, Random& random) {
    call_mm(call, random, {1, 16, 32, 96, false}, Floats::kUsual);
  });
  count(&reference::bmm, "4x16x8x16", 4 * 16 * 8 * 16, [](Call& call, Random& random) {
    call_bmm(call, random, {4, 16, 8, 16, false}, Floats::kUsual);
  });
  const ImageShape image = {64, 25, 5};
  const struct {
    const rt::Kernel* kernel;
    void (*make)(Call&, Random&, const ImageShape&, Floats);
  } elementwise[] = {{&reference::relu, call_relu},
                     {&reference::hardtanh, call_hardtanh},
                     {&reference::add, call_float_add},
                     {&reference::mul, call_mul},
                     {&reference::native_batch_norm, call_batch_norm}};
  for (const auto& [kernel, make] : elementwise) {
    count(kernel, "64@25x5", 0,
          [&](Call& call, Random& random) { make(call, random, image, Floats::kUsual); });
  }
  count(&reference::native_layer_norm, "16x32", 0, [](Call& call, Random& random) {
    call_layer_norm(call, random, 16, 32, true, true, Floats::kUsual);
  });
  count(&reference::avg_pool2d, "25x5-64", 0, [](Call& call, Random& random) {
    call_float_avg_pool2d(call, random, {1, 64, 64, 1, 25, 5, 25, 5, 25, 5, 0, 0, 1, 1},
                          Layout::kChannelsLast, Floats::kUsual);
  });
  count(&reference::mean, "64@8x8", 0,
        [](Call& call, Random& random) { call_mean(call, random, {64, 8, 8}, Floats::kUsual); });
  count(&reference::float_softmax, "64x16", 0, [](Call& call, Random& random) {
    call_float_softmax(call, random, 64, 16, 1, Floats::kUsual);
  });
  count(&reference::float_log_softmax, "64x16", 0, [](Call& call, Random& random) {
    call_float_softmax(call, random, 64, 16, 1, Floats::kUsual);
  });
  count(&reference::sigmoid, "1024", 0,
        [](Call& call, Random& random) { call_sigmoid(call, random, 1024, Floats::kUsual); });
  count(&reference::gelu, "1024", 0,
        [](Call& call, Random& random) { call_gelu(call, random, 1024, "tanh", Floats::kUsual); });
  count(&reference::quantized_batch_matmul, "4x16x8x16", 4 * 16 * 8 * 16,
        [](Call& call, Random& random) {
          call_batch_matmul(call, random, 4, 16, 8, 16, Scales::kUsual);
        });
  count(&reference::softmax, "64x16", 0,
        [](Call& call, Random& random) { call_softmax(call, random, 64, 16); });
  count(&reference::quantized_add, "16384", 0,
        [](Call& call, Random& random) { call_add(call, random, 16384, Scales::kUsual); });
  count(&reference::quantized_mul, "16384", 0, [](Call& call, Random& random) {
    call_quantized_mul(call, random, 1, 16384, false, Scales::kUsual);
  });
  count(&reference::maximum, "16384", 0,
        [](Call& call, Random& random) { call_extreme(call, random, 1, 16384, false); });
  count(&reference::minimum, "16384", 0,
        [](Call& call, Random& random) { call_extreme(call, random, 1, 16384, false); });
  count(&reference::quantized_activation, "16384", 0,
        [](Call& call, Random& random) { call_activation(call, random, 16384); });
  count(&reference::quantized_avg_pool2d, "25x5-64", 0, [](Call& call, Random& random) {
    call_avg_pool2d(call, random, {1, 64, 64, 1, 25, 5, 25, 5, 25, 5, 0, 0, 1, 1});
  });
  count(&reference::quantized_max_pool2d, "2x2-32@24x24", 0, [](Call& call, Random& random) {
    call_max_pool2d(call, random, {1, 32, 32, 1, 24, 24, 2, 2, 2, 2, 0, 0, 1, 1});
  });
  count(&reference::quantize_per_tensor, "27648", 0,
        [](Call& call, Random& random) { call_quantize(call, random, 27648, Scales::kUsual); });
  count(&reference::dequantize_per_tensor, "640", 0,
        [](Call& call, Random& random) { call_dequantize(call, random, 640); });
}

}  // namespace
}  // namespace device

namespace fw {

int app_main() {
  counter_restart();
  device::Print("overhead").number(static_cast<uint32_t>(counter_read()));
  device::count_all();
  device::Print("end");
  return kExitOk;
}

void app_fault(const Fault& fault) { device::Print("fault").word(fault.type); }

}  // namespace fw
