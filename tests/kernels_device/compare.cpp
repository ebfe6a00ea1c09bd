// Holds the fast kernels of a board against the reference kernels: random calls, outputs compared
// byte by byte, inputs and outputs in guarded memory.
//
// Lines: `done <operator> cases <n> scratch <n>`, where scratch counts the calls for which the fast
// kernel asked for some; `bad <operator> seed <n> <what>`; `end good|bad`.

#include <bit>
#include <cmath>
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

Scales scales_of(Random& random) { return random.one_in(3) ? Scales::kAny : Scales::kUsual; }

void random_conv2d(Call& call, Random& random) {
  ConvolutionShape shape = random_window(random);
  shape.groups = random.choice<int32_t>({1, 1, 1, 2, 3});
  const int32_t depth = random.choice<int32_t>(
      {1, 2, 3, 4, 8, 12, 16, random.integer(1, 20), random.integer(30, 70)});
  shape.in_channels = shape.groups * depth;
  shape.out_channels =
      shape.groups *
      random.choice<int32_t>({1, 2, 3, 4, 5, 8, 16, random.integer(4, 21), random.integer(4, 40)});
  call_conv2d(call, random, shape, scales_of(random));
}

void random_depthwise_conv2d(Call& call, Random& random) {
  ConvolutionShape shape = random_window(random);
  shape.in_channels = random.choice<int32_t>({1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 24, 30});
  shape.out_channels =
      shape.in_channels *
      random.choice<int32_t>({1, 1, 1, 1, 2, shape.in_channels == 1 ? random.integer(3, 90) : 3});
  call_depthwise_conv2d(call, random, shape, scales_of(random));
}

void random_transpose_conv2d(Call& call, Random& random) {
  ConvolutionShape shape = random_window(random);
  if (!random.one_in(6)) shape.dilation_h = shape.dilation_w = 1;
  shape.groups = 1;
  shape.height = random.integer(1, 7);
  shape.width = random.integer(1, 7);
  const int32_t extra = random.one_in(2) ? 0 : random.integer(0, 2);
  // An output is left in each dimension.
  const auto room = [&](int32_t input, int32_t kernel, int32_t stride, int32_t dilation) {
    return ((input - 1) * stride + dilation * (kernel - 1) + extra) / 2;
  };
  const int32_t room_h = room(shape.height, shape.kernel_h, shape.stride_h, shape.dilation_h);
  const int32_t room_w = room(shape.width, shape.kernel_w, shape.stride_w, shape.dilation_w);
  if (shape.padding_h > room_h) shape.padding_h = room_h;
  if (shape.padding_w > room_w) shape.padding_w = room_w;
  shape.in_channels = random.choice<int32_t>({1, 3, 4, 8, 16, random.integer(1, 40)});
  shape.out_channels = random.choice<int32_t>({1, 2, 4, 5, 8, random.integer(3, 20)});
  call_transpose_conv2d(call, random, shape, extra, scales_of(random));
}

void random_linear(Call& call, Random& random) {
  const int32_t rows = random.choice<int32_t>({1, 1, 2, 3, 4, 5, 6, 7, 11});
  const int32_t depth = random.choice<int32_t>(
      {1, 3, 4, 8, 12, 16, 20, 32, 64, random.integer(1, 40), random.integer(100, 300)});
  const int32_t outputs = random.choice<int32_t>({1, 2, 3, 4, 5, 6, 8, 9, random.integer(10, 30)});
  call_linear(call, random, rows, depth, outputs, random.one_in(3), scales_of(random));
}

void random_batch_matmul(Call& call, Random& random) {
  const int32_t batch = random.integer(1, 3);
  const int32_t rows = random.integer(1, 9);
  const int32_t depth = random.choice<int32_t>({1, 8, 16, random.integer(1, 50)});
  call_batch_matmul(call, random, batch, rows, depth, random.integer(1, 21), scales_of(random));
}

void random_softmax(Call& call, Random& random) {
  call_softmax(call, random, random.integer(1, 16), random.choice<int32_t>({1, 10, 16, 40}));
}

void random_add(Call& call, Random& random) {
  const int32_t count = random.choice<int32_t>({1, 100, 511, 512, random.integer(512, 700)});
  call_add(call, random, count, scales_of(random));
}

void random_quantized_mul(Call& call, Random& random) {
  call_quantized_mul(call, random, random.integer(1, 4), random.integer(1, 50), random.one_in(3),
                     scales_of(random));
}

void random_extreme(Call& call, Random& random) {
  // Of one column, a broadcast operand has no neighbours.
  const int32_t count = random.one_in(4) ? 1 : random.integer(1, 50);
  call_extreme(call, random, random.integer(1, 4), count, random.one_in(3));
}

void random_activation(Call& call, Random& random) {
  call_activation(call, random, random.integer(1, 70));
}

void random_quantize(Call& call, Random& random) {
  const int32_t count = random.choice<int32_t>({1, 15, 16, 17, 31, 32, random.integer(1, 200)});
  call_quantize(call, random, count, scales_of(random));
}

void random_dequantize(Call& call, Random& random) {
  call_dequantize(call, random, random.integer(1, 70));
}

ConvolutionShape random_pool(Random& random) {
  ConvolutionShape shape = random_window(random);
  shape.dilation_h = shape.dilation_w = 1;
  if (random.one_in(8)) shape.kernel_h = shape.kernel_w = random.integer(6, 18);
  shape.padding_h = random.integer(0, shape.kernel_h / 2);
  shape.padding_w = random.integer(0, shape.kernel_w / 2);
  if (shape.height < shape.kernel_h) shape.height = shape.kernel_h;
  if (shape.width < shape.kernel_w) shape.width = shape.kernel_w;
  shape.in_channels = random.choice<int32_t>({1, 3, 4, 5, 8, 9, 16, 21});
  return shape;
}

void random_avg_pool2d(Call& call, Random& random) {
  call_avg_pool2d(call, random, random_pool(random));
}

void random_max_pool2d(Call& call, Random& random) {
  call_max_pool2d(call, random, random_pool(random));
}

// Weights and bias of packed operators (runtime/kernels/dsp/packed.hpp), re-encoded where they lie.
// The filters' pairs must allow it.
void pack_for_dsp(Call& call, int32_t input_offset) {
  rt::Args args = call.args();
  rt::Tensor& bias = args.tensor(2);
  int8_t* weight = args.tensor(1).as<int8_t>();
  const uint32_t filters = bias.numel();
  const uint32_t length = args.tensor(1).numel() / filters;
  for (uint32_t filter = 0; filter < filters; ++filter, weight += length) {
    int32_t sum = bias.as<int32_t>()[filter];
    uint32_t mend = 0;
    for (uint32_t i = 0; i < length; i += 2) {
      const int32_t even = weight[i];
      const int32_t odd = weight[i + 1];
      sum += input_offset * (even + odd) + 127 * odd;
      const int32_t half = 256 * odd + even;
      if (half < -32768) mend = (length - i + 2) / 4;
      weight[i + 1] = static_cast<int8_t>(static_cast<uint32_t>(half) >> 8);
    }
    bias.as<int32_t>()[filter] = static_cast<int32_t>(static_cast<uint32_t>(sum) * 256U + mend);
  }
}

// Leaves `most` pairs of a filter whose half lacks 2^16, as the packer wants it.
void allow_packing(Call& call, uint32_t most) {
  rt::Args args = call.args();
  int8_t* weight = args.tensor(1).as<int8_t>();
  const uint32_t filters = args.tensor(2).numel();
  const uint32_t length = args.tensor(1).numel() / filters;
  for (uint32_t filter = 0; filter < filters; ++filter, weight += length) {
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < length; i += 2) {
      if (weight[i] < 0 && weight[i + 1] == -128 && ++beyond > most) weight[i + 1] = -127;
    }
  }
}

void pack_conv2d(Call& call) { pack_for_dsp(call, call.args().integer(6)); }
void pack_linear(Call& call) { pack_for_dsp(call, call.args().integer(4)); }

constexpr int32_t kLongestPacked = 248;  // sums of any bytes stay within 2^23

void random_packed_conv2d(Call& call, Random& random) {
  ConvolutionShape shape = random_window(random);
  shape.groups = 1;
  if (random.one_in(2)) shape.kernel_h = shape.kernel_w = 1;
  const int32_t taps = shape.kernel_h * shape.kernel_w;
  const int32_t step = taps % 2 == 0 ? 4 : 8;
  const int32_t most = kLongestPacked / taps / step;
  shape.in_channels = step * random.integer(1, most < 1 ? 1 : most);
  shape.out_channels = random.choice<int32_t>({1, 2, 3, 4, 8, random.integer(1, 30)});
  call_conv2d(call, random, shape, Scales::kUsual);
  allow_packing(call, 1);
}

void random_packed_linear(Call& call, Random& random) {
  const int32_t depth = 8 * random.choice<int32_t>({1, 2, 7, 8, 9, random.integer(1, 31)});
  call_linear(call, random, random.integer(1, 4), depth, random.integer(3, 30), false,
              Scales::kUsual);
  allow_packing(call, 0);
}

template <void (*kMake)(Call&, Random&, Floats)>
void usual_floats(Call& call, Random& random) {
  kMake(call, random, random.one_in(3) ? Floats::kAny : Floats::kUsual);
}
template <void (*kMake)(Call&, Random&, Floats)>
void small_floats(Call& call, Random& random) {
  kMake(call, random, Floats::kSmall);
}

// What is compared of outputs.
enum class Same : uint8_t {
  kBytes,
  kFloats,   // bytes, but a NaN is as good as another
  kExact,    // each within the tolerance of what it should be
  kFlushed,  // subnormal numbers may count as zero: differences are less than 2^-114
};

// Weights and bias of a 3x3 filter as Winograd's kernel reads them
// (runtime/kernels/dsp/winograd.hpp): 4 G g G^T, by the matrix products themselves.
void transform_for_winograd(Call& call) {
  rt::Args args = call.args();
  const int32_t filters = args.tensor(1).size(0);
  const int32_t channels = args.tensor(1).size(3);
  const int8_t* weight = args.tensor(1).as<int8_t>();
  const int32_t* bias = args.tensor(2).as<int32_t>();
  int16_t* to = call.other(1, rt::ScalarType::kChar, {filters, 4, 4, 2 * channels}).as<int16_t>();
  int32_t* sums = call.other(2, rt::ScalarType::kInt, {filters}).as<int32_t>();
  constexpr int32_t kTwiceG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  for (int32_t filter = 0; filter < filters; ++filter) {
    int32_t sum = 0;
    for (int32_t i = 0; i < 9 * channels; ++i) sum += weight[filter * 9 * channels + i];
    sums[filter] =
        static_cast<int32_t>(4U * static_cast<uint32_t>(bias[filter] + args.integer(6) * sum));
    for (int32_t place = 0; place < 16; ++place) {
      for (int32_t channel = 0; channel < channels; ++channel) {
        int32_t value = 0;
        for (int32_t tap = 0; tap < 9; ++tap) {
          value += kTwiceG[place / 4][tap / 3] * kTwiceG[place % 4][tap % 3] *
                   weight[(filter * 9 + tap) * channels + channel];
        }
        const int32_t word = channel / 4 * 2 + channel % 2;
        const int32_t half = channel / 2 % 2;
        const int32_t pairs = place * filters / 2 + filter / 2;
        to[((pairs * (channels / 2) + word) * 2 + filter % 2) * 2 + half] =
            static_cast<int16_t>(value);
      }
    }
  }
}

void random_winograd_conv2d(Call& call, Random& random) {
  ConvolutionShape shape = random_window(random);
  shape.groups = shape.dilation_h = shape.dilation_w = shape.stride_h = shape.stride_w = 1;
  shape.kernel_h = shape.kernel_w = 3;
  const bool wide = random.one_in(8);
  shape.padding_h = random.choice<int32_t>({0, 1, 1, 2, 4});
  shape.padding_w = random.choice<int32_t>({0, 1, 1, 2, wide ? 14 : 4});
  const auto size = [&](int32_t padding, int32_t most) {
    return (padding > 0 ? 1 : 3) + random.integer(0, most);
  };
  shape.height = size(shape.padding_h, 6);
  shape.width = size(shape.padding_w, wide ? 30 : 10);
  shape.in_channels = 4 * random.choice<int32_t>({1, 2, 3, 4, 5, random.integer(1, 10)});
  shape.out_channels = 2 * random.choice<int32_t>({1, 2, 3, 7, 8, 9, random.integer(1, 17)});
  call_conv2d(call, random, shape, Scales::kUsual);
  transform_for_winograd(call);
}

struct Subject {
  const char* name;  // without namespace and overload
  const rt::Kernel* reference;
  void (*make)(Call&, Random&);
  uint32_t cases;
  // Of operators that read packed weights: their full name, and what packs a call's where they lie.
  const char* packed_name = nullptr;
  void (*pack)(Call&) = nullptr;
  Same same = Same::kBytes;
  Exact (*exact)(const rt::Args&, uint32_t) = nullptr;  // of kExact
  // The operands in whose place the result may lie (IN_PLACE in bench/rewrite/in_place.py), or -1.
  int32_t in_place[2] = {-1, -1};
};

constexpr Subject in_place_subject(const char* name, const rt::Kernel* kernel,
                                   void (*make)(Call&, Random&), uint32_t cases, int32_t operand,
                                   int32_t other = -1) {
  return {name, kernel, make, cases, nullptr, nullptr, Same::kBytes, nullptr, {operand, other}};
}

constexpr Subject float_subject(const char* name, const rt::Kernel* kernel,
                                void (*make)(Call&, Random&), uint32_t cases, Same same) {
  return {name, kernel, make, cases, nullptr, nullptr, same};
}

constexpr Subject exact_subject(const char* name, const rt::Kernel* kernel,
                                void (*make)(Call&, Random&), uint32_t cases,
                                Exact (*exact)(const rt::Args&, uint32_t)) {
  return {name, kernel, make, cases, nullptr, nullptr, Same::kExact, exact};
}

const Subject kSubjects[] = {
    {"quantized_conv2d", &reference::quantized_conv2d, random_conv2d, 500},
    {"quantized_depthwise_conv2d", &reference::quantized_depthwise_conv2d, random_depthwise_conv2d,
     500},
    {"quantized_transpose_conv2d", &reference::quantized_transpose_conv2d, random_transpose_conv2d,
     400},
    {"quantized_linear", &reference::quantized_linear, random_linear, 400},
    {"quantized_batch_matmul", &reference::quantized_batch_matmul, random_batch_matmul, 200},
    {"softmax", &reference::softmax, random_softmax, 60},
    in_place_subject("quantized_add", &reference::quantized_add, random_add, 150, 0, 4),
    {"quantized_mul", &reference::quantized_mul, random_quantized_mul, 200},
    {"maximum", &reference::maximum, random_extreme, 100},
    {"minimum", &reference::minimum, random_extreme, 100},
    {"quantized_activation", &reference::quantized_activation, random_activation, 60},
    {"quantized_avg_pool2d", &reference::quantized_avg_pool2d, random_avg_pool2d, 150},
    {"quantized_max_pool2d", &reference::quantized_max_pool2d, random_max_pool2d, 150},
    in_place_subject("quantize_per_tensor", &reference::quantize_per_tensor, random_quantize, 300,
                     0),
    {"dequantize_per_tensor", &reference::dequantize_per_tensor, random_dequantize, 60},
    {"quantized_conv2d_packed", &reference::quantized_conv2d, random_packed_conv2d, 400,
     "cortex_m::quantized_conv2d.dsp1", pack_conv2d},
    {"quantized_linear_packed", &reference::quantized_linear, random_packed_linear, 200,
     "cortex_m::quantized_linear.dsp1", pack_linear},
    float_subject("relu", &reference::relu, usual_floats<random_relu>, 60, Same::kFloats),
    float_subject("hardtanh", &reference::hardtanh, usual_floats<random_hardtanh>, 60,
                  Same::kFloats),
    float_subject("clamp", &reference::clamp, usual_floats<random_clamp>, 60, Same::kFloats),
    float_subject("add", &reference::add, usual_floats<random_float_add>, 120, Same::kFloats),
    float_subject("add_small", &reference::add, small_floats<random_float_add>, 30, Same::kFlushed),
    float_subject("sub", &reference::sub, usual_floats<random_float_add>, 80, Same::kFloats),
    float_subject("mul", &reference::mul, usual_floats<random_mul>, 120, Same::kFloats),
    float_subject("mul_small", &reference::mul, small_floats<random_mul>, 30, Same::kFlushed),
    float_subject("batch_norm", &reference::native_batch_norm, usual_floats<random_batch_norm>, 100,
                  Same::kFloats),
    float_subject("layer_norm", &reference::native_layer_norm, usual_floats<random_layer_norm>, 120,
                  Same::kFloats),
    float_subject("avg_pool2d", &reference::avg_pool2d, usual_floats<random_float_avg_pool2d>, 120,
                  Same::kFloats),
    float_subject("mean", &reference::mean, usual_floats<random_mean>, 100, Same::kFloats),
    exact_subject("softmax", &reference::float_softmax, usual_floats<random_float_softmax>, 60,
                  exact_softmax),
    exact_subject("log_softmax", &reference::float_log_softmax, usual_floats<random_float_softmax>,
                  60, exact_log_softmax),
    exact_subject("sigmoid", &reference::sigmoid, usual_floats<random_sigmoid>, 40, exact_sigmoid),
    exact_subject("gelu", &reference::gelu, usual_floats<random_gelu>, 40, exact_gelu),
    float_subject("convolution", &reference::convolution, usual_floats<random_convolution>, 600,
                  Same::kFloats),
    float_subject("convolution_small", &reference::convolution, small_floats<random_convolution>,
                  60, Same::kFlushed),
    float_subject("mm", &reference::mm, usual_floats<random_mm>, 100, Same::kFloats),
    float_subject("bmm", &reference::bmm, usual_floats<random_bmm>, 100, Same::kFloats),
    float_subject("addmm", &reference::addmm, usual_floats<random_addmm>, 150, Same::kFloats),
    float_subject("linear", &reference::linear, usual_floats<random_float_linear>, 150,
                  Same::kFloats),
    float_subject("linear_small", &reference::linear, small_floats<random_float_linear>, 30,
                  Same::kFlushed),
    {"quantized_conv2d_winograd", &reference::quantized_conv2d, random_winograd_conv2d, 300,
     "cortex_m::quantized_conv2d.winograd1"},
};

// The kernel that a program would get: the reference kernel does not register itself.
const rt::Kernel* registered(std::string_view name) {
  const size_t dot = name.rfind('.');
  return rt::find_kernel({name.data(), dot}, {name.data() + dot + 1, name.size() - dot - 1});
}

class Comparison {
 public:
  Comparison(const Subject& subject, uint32_t seed) : subject_(subject), seed_(seed) {}

  // @return whether both kernels do the same.
  bool run(Memory& memory) {
    Random random(seed_);
    const Placement placement = random.one_in(2) ? Placement::kAligned : Placement::kAtWall;
    Call call(memory, placement);
    subject_.make(call, random);
    rt::Args args = call.args();
    rt::Needs needs;
    rt::Needs fast_needs;
    const rt::Kernel& fast = *registered(subject_.packed_name == nullptr ? subject_.reference->name
                                                                         : subject_.packed_name);
    const rt::Error expected = subject_.reference->prepare(args, needs);
    call.exchange();
    if (fast.prepare(args, fast_needs) != expected) return fail("prepares otherwise");
    call.exchange();
    if (expected != rt::Error::kOk) return fail("the case is refused: the test is wrong");
    used_scratch = fast_needs.temporary_bytes != 0;
    rt::Tensor& out = call.out();
    std::byte* const fast_out = out.data();
    std::byte* const reference_out = memory.take(out.nbytes(), Placement::kAligned);
    std::byte* const scratch = memory.take(fast_needs.temporary_bytes, Placement::kAligned);
    uint32_t most = 0;
    for (const int32_t place : subject_.in_place) {
      if (place < 0) continue;
      const uint32_t bytes = args.tensor(static_cast<uint32_t>(place)).nbytes();
      most = bytes > most ? bytes : most;
    }
    std::byte* const kept = memory.take(most, Placement::kAligned);
    std::memset(scratch, static_cast<int>(random.next() & 0xFF), fast_needs.temporary_bytes);
    std::memset(fast_out, 0x5A, out.nbytes());
    memory.protect();
    out.place(reference_out);
    if (subject_.reference->run(args, {}) != rt::Error::kOk) return fail("the reference failed");
    out.place(fast_out);
    if (subject_.pack != nullptr) subject_.pack(call);
    call.exchange();
    const rt::Error error = fast.run(args, {scratch, fast_needs.temporary_bytes});
    if (error != rt::Error::kOk) return fail("failed");
    if (subject_.same == Same::kBytes) {
      if (!compare(reference_out, fast_out, out.nbytes())) return false;
      for (const int32_t place : subject_.in_place) {
        if (place < 0) continue;
        rt::Tensor& operand = args.tensor(static_cast<uint32_t>(place));
        for (const rt::Kernel* kernel : {&fast, subject_.reference}) {
          const std::span<std::byte> memory_of = {scratch, fast_needs.temporary_bytes};
          if (!same_in_place(*kernel, args, operand, out, kept, memory_of, reference_out)) {
            return fail("does otherwise in place");
          }
        }
      }
      return true;
    }
    const auto* const by_reference = reinterpret_cast<const float*>(reference_out);
    const auto* const by_fast = reinterpret_cast<const float*>(fast_out);
    return subject_.same == Same::kExact ? near_exact(args, by_reference, out.numel()) &&
                                               near_exact(args, by_fast, out.numel())
                                         : compare_floats(by_reference, by_fast, out.numel());
  }

  bool used_scratch = false;

 private:
  bool fail(const char* what) const {
    Print("bad").word(subject_.name).word("seed").number(seed_).word(what);
    return false;
  }

  // Runs with the result in the place of an operand that has its layout, and puts the operand back.
  bool same_in_place(const rt::Kernel& kernel, const rt::Args& args, rt::Tensor& operand,
                     rt::Tensor& out, std::byte* kept, std::span<std::byte> scratch,
                     const std::byte* expected) const {
    if (operand.numel() != out.numel()) return true;
    std::byte* const before = out.data();
    std::memcpy(kept, operand.data(), operand.nbytes());
    out.place(operand.data());
    const bool good = kernel.run(args, scratch) == rt::Error::kOk;
    const bool same = good && compare(expected, out.data(), out.nbytes());
    out.place(before);
    std::memcpy(operand.data(), kept, operand.nbytes());
    return same;
  }

  bool compare(const std::byte* expected, const std::byte* actual, uint32_t bytes) const {
    for (uint32_t i = 0; i < bytes; ++i) {
      if (expected[i] == actual[i]) continue;
      Print("bad")
          .word(subject_.name)
          .word("seed")
          .number(seed_)
          .word("at")
          .number(i)
          .word("of")
          .number(bytes)
          .word("expected")
          .integer(static_cast<int8_t>(expected[i]))
          .word("actual")
          .integer(static_cast<int8_t>(actual[i]));
      return false;
    }
    return true;
  }

  bool alike(float expected, float actual) const {
    const auto bits = std::bit_cast<uint32_t>(expected);
    if (bits == std::bit_cast<uint32_t>(actual)) return true;
    if (expected != expected) return actual != actual;
    if (subject_.same != Same::kFlushed) return false;
    const float difference = expected - actual;
    return difference < 0x1p-114F && difference > -0x1p-114F;
  }

  bool different(uint32_t i, uint32_t count, float expected, float actual) const {
    Print("bad")
        .word(subject_.name)
        .word("seed")
        .number(seed_)
        .word("at")
        .number(i)
        .word("of")
        .number(count)
        .word("expected-bits")
        .number(std::bit_cast<uint32_t>(expected))
        .word("actual-bits")
        .number(std::bit_cast<uint32_t>(actual));
    return false;
  }

  bool near_exact(const rt::Args& args, const float* actual, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) {
      const Exact exact = subject_.exact(args, i);
      const auto value = static_cast<double>(actual[i]);
      // infinities are equal, a NaN is as good as another
      if (value == exact.value || std::fabs(value - exact.value) <= exact.tolerance) continue;
      if (std::isnan(value) && std::isnan(exact.value)) continue;
      return different(i, count, static_cast<float>(exact.value), actual[i]);
    }
    return true;
  }

  bool compare_floats(const float* expected, const float* actual, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (alike(expected[i], actual[i])) continue;
      return different(i, count, expected[i], actual[i]);
    }
    return true;
  }

  const Subject& subject_;
  uint32_t seed_;
};

constexpr uint32_t kMostFailures = 5;  // of one operator

bool check(const Subject& subject) {
  uint32_t scratch = 0;
  uint32_t failures = 0;
  for (uint32_t seed = 1; seed <= subject.cases && failures < kMostFailures; ++seed) {
    Memory memory;
    Comparison comparison(subject, seed);
    bool same = comparison.run(memory);
    memory.release_walls();
    if (same && !memory.intact()) {
      Print("bad").word(subject.name).word("seed").number(seed).word("wrote outside its tensors");
      same = false;
    }
    failures += same ? 0 : 1;
    scratch += comparison.used_scratch ? 1 : 0;
  }
  Print("done")
      .word(subject.name)
      .word("cases")
      .number(subject.cases)
      .word("scratch")
      .number(scratch);
  return failures == 0;
}

}  // namespace
}  // namespace device

namespace fw {

int app_main() {
  bool good = true;
  for (const device::Subject& subject : device::kSubjects) {
    const bool is_there = subject.reference != nullptr && (subject.packed_name == nullptr ||
                                                           device::registered(subject.packed_name));
    if (is_there) good = device::check(subject) && good;
  }
  device::Print("end").word(good ? "good" : "bad");
  return good ? kExitOk : kExitError;
}

void app_fault(const Fault& fault) {
  device::Print("fault")
      .word(fault.type)
      .word("pc")
      .number(fault.pc)
      .word("address")
      .number(fault.mmfar);
}

}  // namespace fw
