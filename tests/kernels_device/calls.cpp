#include "tests/kernels_device/calls.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace device {
namespace {

constexpr uint8_t kRowMajor[] = {0, 1, 2, 3};
constexpr uint8_t kChannelsLast[] = {0, 2, 3, 1};

void fill(rt::Tensor& tensor, Random& random) {
  int8_t* data = tensor.as<int8_t>();
  const bool ends = random.one_in(5);
  for (uint32_t i = 0; i < tensor.numel(); ++i) {
    const int8_t value = random.int8();
    data[i] = ends ? static_cast<int8_t>(value < 0 ? -128 : 127) : value;
  }
}

// Magnitude of sums of so many products of random bytes.
int32_t usual_sum(int32_t terms) {
  int32_t root = 1;
  while (root * root < terms) ++root;
  return root * 128 * 64;
}

struct Scale {
  int32_t multiplier, shift;
};

// Brings sums near the range of int8.
Scale usual_scale(Random& random, int32_t terms) {
  int32_t bits = 0;
  while (usual_sum(terms) >> bits > 64) ++bits;
  // A power of two makes ties.
  const int32_t multiplier = random.one_in(4) ? 1 << 30 : random.integer(1 << 30, 0x7FFF'FFFF);
  return {multiplier, -(bits + random.integer(-2, 1))};
}

Scale any_scale(Random& random, Scales scales, int32_t terms) {
  if (scales == Scales::kUsual || !random.one_in(3)) return usual_scale(random, terms);
  const int32_t multiplier =
      random.choice<int32_t>({0x7FFF'FFFF, 1 << 30, -(1 << 30), 0, 1, -0x7FFF'FFFF,
                              random.integer(-0x7FFF'FFFF, 0x7FFF'FFFF)});
  return {multiplier, random.choice<int32_t>({-62, -33, -32, -31, -30, -8, -2, -1, -1})};
}

// One shift in a call that is not to the right sends the whole of it to the reference kernel.
void add_left_shift(int32_t* shifts, int32_t count, Random& random, Scales scales) {
  if (scales == Scales::kAny && random.one_in(4)) {
    shifts[random.integer(0, count - 1)] = random.choice<int32_t>({0, 0, 1, 8, 31});
  }
}

void add_scales(Call& call, Random& random, int32_t count, int32_t terms, Scales scales) {
  rt::Tensor& multipliers = call.tensor(rt::ScalarType::kInt, {count}, true);
  rt::Tensor& shifts = call.tensor(rt::ScalarType::kInt, {count}, true);
  for (int32_t i = 0; i < count; ++i) {
    const Scale scale = any_scale(random, scales, terms);
    multipliers.as<int32_t>()[i] = scale.multiplier;
    shifts.as<int32_t>()[i] = scale.shift;
  }
  add_left_shift(shifts.as<int32_t>(), count, random, scales);
}

void add_bias(Call& call, Random& random, int32_t count, int32_t terms, Scales scales) {
  if (scales == Scales::kAny && random.one_in(4)) return call.none();
  int32_t bound = usual_sum(terms);
  if (scales == Scales::kAny && random.one_in(3)) {
    bound = random.choice<int32_t>({1 << 29, 0x7FFF'FFFF});
  }
  rt::Tensor& bias = call.tensor(rt::ScalarType::kInt, {count}, true);
  for (int32_t i = 0; i < count; ++i) bias.as<int32_t>()[i] = random.integer(-bound, bound);
}

struct Bounds {
  int32_t low, high;
};

Bounds bounds(Random& random, int32_t zero_point) {
  if (random.one_in(2)) return {-128, 127};
  if (random.one_in(2)) return {zero_point, 127};  // a fused ReLU
  const int32_t a = random.integer(-128, 127);
  const int32_t b = random.integer(-128, 127);
  return {a < b ? a : b, a < b ? b : a};
}

int32_t output_size(int32_t input, int32_t kernel, int32_t stride, int32_t padding,
                    int32_t dilation) {
  return (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

void add_window(Call& call, const ConvolutionShape& shape) {
  call.list({shape.stride_h, shape.stride_w});
  call.list({shape.padding_h, shape.padding_w});
  call.list({shape.dilation_h, shape.dilation_w});
}

// What follows the window in both convolutions.
void add_stage(Call& call, Random& random, const ConvolutionShape& shape, int32_t terms,
               Scales scales) {
  const int32_t zero_point = random.zero_point();
  call.integer(-random.zero_point());
  call.integer(zero_point);
  add_scales(call, random, shape.out_channels, terms, scales);
  const Bounds clamp = bounds(random, zero_point);
  call.integer(clamp.low);
  call.integer(clamp.high);
  // Planned scratch: what the kernel needs, or not.
  call.tensor(rt::ScalarType::kByte, {scales == Scales::kAny ? 8192 : 0}, false);
  call.out(rt::ScalarType::kChar, {shape.images, shape.out_channels,
                                   output_size(shape.height, shape.kernel_h, shape.stride_h,
                                               shape.padding_h, shape.dilation_h),
                                   output_size(shape.width, shape.kernel_w, shape.stride_w,
                                               shape.padding_w, shape.dilation_w)});
}

}  // namespace

uint32_t Call::add(rt::ValueKind kind, rt::ValueSlot slot) {
  slots_[value_count_] = slot;
  kinds_[value_count_] = kind;
  return value_count_++;
}

void Call::argument(rt::ValueKind kind, rt::ValueSlot slot) {
  indices_[argument_count_++] = static_cast<int32_t>(add(kind, slot));
}

void Call::none() { argument(rt::ValueKind::kNone, {.integer = 0}); }
void Call::integer(int32_t value) { argument(rt::ValueKind::kInt, {.integer = value}); }
void Call::boolean(bool value) { argument(rt::ValueKind::kBool, {.integer = value ? 1 : 0}); }

void Call::real(double value) {
  reals_[real_count_] = value;
  argument(rt::ValueKind::kDouble, {.real = &reals_[real_count_++]});
}

void Call::list(std::initializer_list<int32_t> items) {
  List& list = lists_[list_count_++];
  for (const int32_t item : items) {
    list.items[list.count++] = add(rt::ValueKind::kInt, {.integer = item});
  }
  argument(rt::ValueKind::kIntList, {.list = {reinterpret_cast<const std::byte*>(&list)}});
}

void Call::text(const char* text) {
  text_.length = static_cast<uint32_t>(std::strlen(text));
  std::memcpy(text_.characters, text, text_.length);
  argument(rt::ValueKind::kString, {.text = {reinterpret_cast<const std::byte*>(&text_)}});
}

rt::Tensor& Call::tensor(rt::ScalarType type, Sizes sizes, bool constant, bool channels_last) {
  Shape& shape = shapes_[tensor_count_];
  uint32_t numel = 1;
  uint32_t rank = 0;
  for (const int32_t size : sizes) {
    shape.sizes[rank++] = size;
    numel *= static_cast<uint32_t>(size);
  }
  std::memcpy(shape.dim_order, rank == 4 && channels_last ? kChannelsLast : kRowMajor, kMaxRank);
  std::byte* const data = memory_.take(numel * rt::element_bytes(type), placement_);
  rt::Tensor& tensor = tensors_[tensor_count_++];
  tensor = rt::Tensor(type, {shape.sizes, rank}, shape.dim_order, numel, data, constant);
  argument(rt::ValueKind::kTensor, {.tensor = &tensor});
  return tensor;
}

void Call::swap_last() {
  uint8_t* const order = shapes_[tensor_count_ - 1].dim_order;
  const uint32_t rank = tensors_[tensor_count_ - 1].rank();
  std::swap(order[rank - 2], order[rank - 1]);
}

void Call::result(rt::ScalarType type, Sizes sizes, bool channels_last) {
  out_ = &tensor(type, sizes, false, channels_last);
}

rt::Tensor& Call::other(uint32_t argument, rt::ScalarType type, Sizes sizes) {
  rt::Tensor& made = tensor(type, sizes, true, false);
  exchanges_[exchange_count_++] = {argument, indices_[--argument_count_]};
  return made;
}

void Call::exchange() {
  for (uint32_t i = 0; i < exchange_count_; ++i) {
    std::swap(indices_[exchanges_[i].argument], exchanges_[i].value);
  }
}

void Call::out(rt::ScalarType type, Sizes sizes, bool channels_last) {
  result(type, sizes, channels_last);
  indices_[argument_count_] = indices_[argument_count_ - 1];
  ++argument_count_;
}

ConvolutionShape random_window(Random& random) {
  ConvolutionShape shape = {};
  const bool square = random.one_in(3);
  shape.kernel_h = random.choice<int32_t>({1, 1, 2, 3, 3, 3, 4, 5});
  shape.kernel_w = square ? shape.kernel_h : random.choice<int32_t>({1, 1, 2, 3, 3, 3, 4, 5});
  shape.dilation_h = random.choice<int32_t>({1, 1, 1, 1, 2, 3});
  shape.dilation_w = random.choice<int32_t>({1, 1, 1, 1, 2, 3});
  shape.stride_h = random.integer(1, 3);
  shape.stride_w = random.integer(1, 3);
  shape.padding_h = random.one_in(3) ? 0 : random.integer(0, shape.kernel_h + 1);
  shape.padding_w = random.one_in(3) ? 0 : random.integer(0, shape.kernel_w + 1);
  const auto size = [&](int32_t kernel, int32_t dilation, int32_t padding) {
    const int32_t least = dilation * (kernel - 1) + 1 - 2 * padding;
    return (least < 1 ? 1 : least) + random.integer(0, 9);
  };
  shape.height = size(shape.kernel_h, shape.dilation_h, shape.padding_h);
  shape.width = size(shape.kernel_w, shape.dilation_w, shape.padding_w);
  shape.images = random.choice<int32_t>({1, 1, 1, 2, 3});
  return shape;
}

void call_conv2d(Call& call, Random& random, const ConvolutionShape& shape, Scales scales) {
  const int32_t depth = shape.in_channels / shape.groups;
  const int32_t terms = depth * shape.kernel_h * shape.kernel_w;
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.images, shape.in_channels, shape.height, shape.width}, false),
       random);
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.out_channels, shape.kernel_h, shape.kernel_w, depth}, true, false),
       random);
  add_bias(call, random, shape.out_channels, terms, scales);
  add_window(call, shape);
  add_stage(call, random, shape, terms, scales);
}

void call_transpose_conv2d(Call& call, Random& random, const ConvolutionShape& shape, int32_t extra,
                           Scales scales) {
  const int32_t terms = shape.in_channels * shape.kernel_h * shape.kernel_w;
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.images, shape.in_channels, shape.height, shape.width}, false),
       random);
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.out_channels, shape.kernel_h, shape.kernel_w, shape.in_channels}, true,
                   false),
       random);
  add_bias(call, random, shape.out_channels, terms, scales);
  call.list({shape.stride_h, shape.stride_w});
  call.list({shape.padding_h, shape.padding_w});
  call.list({extra, extra});
  call.list({shape.dilation_h, shape.dilation_w});
  const int32_t zero_point = random.zero_point();
  call.integer(-random.zero_point());
  call.integer(zero_point);
  add_scales(call, random, shape.out_channels, terms, scales);
  const Bounds clamp = bounds(random, zero_point);
  call.integer(clamp.low);
  call.integer(clamp.high);
  call.tensor(rt::ScalarType::kByte, {scales == Scales::kAny ? 8192 : 0}, false);
  call.tensor(rt::ScalarType::kByte, {0}, false);
  const auto size = [&](int32_t input, int32_t kernel, int32_t stride, int32_t padding,
                        int32_t dilation) {
    return (input - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1;
  };
  call.out(rt::ScalarType::kChar,
           {shape.images, shape.out_channels,
            size(shape.height, shape.kernel_h, shape.stride_h, shape.padding_h, shape.dilation_h),
            size(shape.width, shape.kernel_w, shape.stride_w, shape.padding_w, shape.dilation_w)});
}

void call_depthwise_conv2d(Call& call, Random& random, const ConvolutionShape& shape,
                           Scales scales) {
  const int32_t terms = shape.kernel_h * shape.kernel_w;
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.images, shape.in_channels, shape.height, shape.width}, false),
       random);
  fill(call.tensor(rt::ScalarType::kChar, {1, shape.kernel_h, shape.kernel_w, shape.out_channels},
                   true, false),
       random);
  add_bias(call, random, shape.out_channels, terms, scales);
  add_window(call, shape);
  call.integer(shape.out_channels / shape.in_channels);
  add_stage(call, random, shape, terms, scales);
}

void call_linear(Call& call, Random& random, int32_t rows, int32_t depth, int32_t outputs,
                 bool kernel_sum, Scales scales) {
  fill(call.tensor(rt::ScalarType::kChar, {rows, depth}, false), random);
  fill(call.tensor(rt::ScalarType::kChar, {outputs, depth}, true), random);
  if (kernel_sum) call.none();
  add_bias(call, random, outputs, depth, scales);
  if (!kernel_sum) call.none();
  const int32_t zero_point = random.zero_point();
  call.integer(-random.zero_point());
  call.integer(scales == Scales::kAny && random.one_in(8) ? random.integer(-127, 128) : 0);
  call.integer(zero_point);
  Scale scale = any_scale(random, scales, depth);
  add_left_shift(&scale.shift, 1, random, scales);
  call.list({scale.multiplier});
  call.list({scale.shift});
  const Bounds clamp = bounds(random, zero_point);
  call.integer(clamp.high);
  call.integer(clamp.low);
  call.out(rt::ScalarType::kChar, {rows, outputs});
}

void call_batch_matmul(Call& call, Random& random, int32_t batch, int32_t rows, int32_t depth,
                       int32_t columns, Scales scales) {
  fill(call.tensor(rt::ScalarType::kChar, {batch, rows, depth}, false), random);
  call.integer(-random.zero_point());
  fill(call.tensor(rt::ScalarType::kChar, {batch, columns, depth}, false), random);
  call.integer(-random.zero_point());
  call.integer(random.zero_point());
  Scale scale = any_scale(random, scales, depth);
  add_left_shift(&scale.shift, 1, random, scales);
  call.integer(scale.multiplier);
  call.integer(scale.shift);
  call.tensor(rt::ScalarType::kByte, {scales == Scales::kAny ? 512 : 0}, false);
  call.out(rt::ScalarType::kChar, {batch, rows, columns});
}

void call_softmax(Call& call, Random& random, int32_t rows, int32_t count) {
  fill(call.tensor(rt::ScalarType::kChar, {rows, count}, false), random);
  call.integer(random.choice<int32_t>({-1, 1}));
  call.integer(0);
  call.integer(-128);
  const int32_t shift = random.integer(16, 23);
  call.integer(random.integer(1 << 30, 0x7FFF'FFFF));
  call.integer(shift);
  call.integer(-random.integer(0, (1 << (31 - shift)) - 1));
  call.out(rt::ScalarType::kChar, {rows, count});
}

void call_add(Call& call, Random& random, int32_t count, Scales scales) {
  const bool any = scales == Scales::kAny;
  for (int operand = 0; operand < 2; ++operand) {
    fill(call.tensor(rt::ScalarType::kChar, {count}, false), random);
    call.integer(random.zero_point());
    call.integer(any ? random.integer(-0x7FFF'FFFF, 0x7FFF'FFFF)
                     : random.integer(1 << 30, 0x7FFF'FFFF));
    call.integer(any ? random.choice<int32_t>({-30, -5, -1, 0, 1}) : random.integer(-3, 0));
  }
  const int32_t zero_point = random.zero_point();
  call.integer(zero_point);
  call.integer(random.integer(1 << 30, 0x7FFF'FFFF));
  call.integer(any ? random.choice<int32_t>({-62, -32, -18, -1, 0, 3}) : random.integer(-20, -16));
  const Bounds clamp = bounds(random, zero_point);
  call.integer(clamp.low);
  call.integer(clamp.high);
  call.out(rt::ScalarType::kChar, {count});
}

namespace {

void add_other(Call& call, Random& random, int32_t rows, int32_t count, bool broadcast) {
  fill(broadcast ? call.tensor(rt::ScalarType::kChar, {count}, false)
                 : call.tensor(rt::ScalarType::kChar, {rows, count}, false),
       random);
}

}  // namespace

void call_quantized_mul(Call& call, Random& random, int32_t rows, int32_t count, bool broadcast,
                        Scales scales) {
  const bool any = scales == Scales::kAny;
  // One that is folded with an addend may be beyond int8's.
  const auto zero_point = [&] {
    return any ? random.choice<int32_t>({-32768, 32767, 16256, -16256, random.integer(-300, 300)})
               : random.zero_point();
  };
  fill(call.tensor(rt::ScalarType::kChar, {rows, count}, false), random);
  call.integer(zero_point());
  add_other(call, random, rows, count, broadcast);
  call.integer(zero_point());
  call.integer(random.zero_point());
  Scale scale = any_scale(random, scales, 1);
  if (any && random.one_in(2)) scale.shift = -random.integer(8, 24);
  add_left_shift(&scale.shift, 1, random, scales);
  call.integer(scale.multiplier);
  call.integer(scale.shift);
  call.out(rt::ScalarType::kChar, {rows, count});
}

void call_extreme(Call& call, Random& random, int32_t rows, int32_t count, bool broadcast) {
  fill(call.tensor(rt::ScalarType::kChar, {rows, count}, false), random);
  add_other(call, random, rows, count, broadcast);
  call.out(rt::ScalarType::kChar, {rows, count});
}

void call_activation(Call& call, Random& random, int32_t count) {
  fill(call.tensor(rt::ScalarType::kChar, {count}, false), random);
  fill(call.tensor(rt::ScalarType::kChar, {256}, true), random);
  call.out(rt::ScalarType::kChar, {count});
}

void call_quantize(Call& call, Random& random, int32_t count, Scales scales) {
  rt::Tensor& input = call.tensor(rt::ScalarType::kFloat, {count}, false);
  const bool any = scales == Scales::kAny;
  // Halves, which are ties for the scale below, and with kAny whatever 32 bits can be: NaNs,
  // infinities, denormals.
  for (int32_t i = 0; i < count; ++i) {
    const float tie = static_cast<float>(random.integer(-300, 300)) * 0.5F;
    input.as<float>()[i] =
        any && random.one_in(9)
            ? std::bit_cast<float>(random.one_in(3)
                                       ? random.choice<uint32_t>(
                                             {0x7FC0'0000, 0x7F80'0000, 0xFF80'0000, 0xFFC0'0001})
                                       : random.next())
            : tie + (random.one_in(2) ? 0.0F : static_cast<float>(random.int8()) * 0.001F);
  }
  call.real(any && random.one_in(6) ? random.choice<double>({1e-40, 1e-33, 1e-30, 0.1, 3e38})
                                    : 1.0);
  call.integer(random.zero_point());
  const bool tight = any && random.one_in(5);
  call.integer(tight ? random.integer(-128, 0) : -128);
  call.integer(tight ? random.integer(0, 127) : 127);
  call.integer(static_cast<int32_t>(rt::ScalarType::kChar));
  call.out(rt::ScalarType::kChar, {count});
}

void call_dequantize(Call& call, Random& random, int32_t count) {
  fill(call.tensor(rt::ScalarType::kChar, {count}, false), random);
  call.real(random.choice<double>({0.1, 1.0, 0.0235, 1e-30, 1e-33, 1e-40, 1e37}));
  call.integer(random.zero_point());
  call.integer(-128);
  call.integer(127);
  call.integer(static_cast<int32_t>(rt::ScalarType::kChar));
  call.out(rt::ScalarType::kFloat, {count});
}

namespace {

void add_pool(Call& call, Random& random, const ConvolutionShape& shape) {
  fill(call.tensor(rt::ScalarType::kChar,
                   {shape.images, shape.in_channels, shape.height, shape.width}, false),
       random);
  call.list({shape.kernel_h, shape.kernel_w});
  call.list({shape.stride_h, shape.stride_w});
  call.list({shape.padding_h, shape.padding_w});
}

void add_pool_out(Call& call, const ConvolutionShape& shape) {
  call.out(rt::ScalarType::kChar,
           {shape.images, shape.in_channels,
            output_size(shape.height, shape.kernel_h, shape.stride_h, shape.padding_h, 1),
            output_size(shape.width, shape.kernel_w, shape.stride_w, shape.padding_w, 1)});
}

}  // namespace

void call_avg_pool2d(Call& call, Random& random, const ConvolutionShape& shape) {
  add_pool(call, random, shape);
  call.boolean(false);
  call.integer(0);
  call.integer(0);
  call.integer(0);
  call.tensor(rt::ScalarType::kByte, {0}, false);
  add_pool_out(call, shape);
}

void call_max_pool2d(Call& call, Random& random, const ConvolutionShape& shape) {
  add_pool(call, random, shape);
  call.list({1, 1});
  call.boolean(false);
  const int32_t zero_point = random.zero_point();
  call.integer(zero_point);
  call.integer(zero_point);
  const Bounds clamp = bounds(random, zero_point);
  call.integer(clamp.low);
  call.integer(clamp.high);
  add_pool_out(call, shape);
}

}  // namespace device
