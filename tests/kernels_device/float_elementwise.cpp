#include "tests/kernels_device/float_calls.hpp"

namespace device {
namespace {

constexpr rt::ScalarType kFloat = rt::ScalarType::kFloat;

ImageShape random_image(Random& random) {
  return {random.integer(1, 20), random.integer(1, 9), random.integer(1, 9)};
}

void add_image(Call& call, Random& random, const ImageShape& s, bool channels_last, Floats floats) {
  fill_floats(call.tensor(kFloat, {1, s.channels, s.height, s.width}, false, channels_last), random,
              floats);
}

void add_channels(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  fill_floats(call.tensor(kFloat, {shape.channels}, true), random, floats);
}

void out_image(Call& call, const ImageShape& s, bool channels_last = true) {
  call.out(kFloat, {1, s.channels, s.height, s.width}, channels_last);
}

// An operand that is broadcast along some dimensions, or integers.
void add_operand(Call& call, Random& random, const ImageShape& shape, rt::ScalarType type,
                 Floats floats) {
  ImageShape s = shape;
  bool channels_last = true;
  switch (random.integer(0, 7)) {
    case 0:
      s = {1, 1, 1};
      break;
    case 1:
      s.height = s.width = 1;
      break;
    case 2:
      s.channels = 1;
      break;
    case 3:
      channels_last = false;
      break;
    default:
      break;
  }
  rt::Tensor& tensor = call.tensor(type, {1, s.channels, s.height, s.width}, false, channels_last);
  if (type == kFloat) return fill_floats(tensor, random, floats);
  for (uint32_t i = 0; i < tensor.numel(); ++i) tensor.as<int32_t>()[i] = random.int8();
}

rt::ScalarType random_type(Random& random) {
  return random.one_in(8) ? rt::ScalarType::kInt : kFloat;
}

}  // namespace

void call_relu(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  add_image(call, random, shape, true, floats);
  out_image(call, shape);
}

void call_hardtanh(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  add_image(call, random, shape, true, floats);
  call.real(0.0);
  call.real(6.0);
  out_image(call, shape);
}

void call_float_add(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  add_image(call, random, shape, true, floats);
  add_image(call, random, shape, true, floats);
  call.integer(1);
  out_image(call, shape);
}

void call_mul(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  add_image(call, random, shape, true, floats);
  add_image(call, random, shape, true, floats);
  out_image(call, shape);
}

namespace {

void finish_batch_norm(Call& call, Random& random, const ImageShape& shape, Floats floats,
                       bool channels_last) {
  for (int parameter = 0; parameter < 2; ++parameter) {  // weight and bias
    if (random.one_in(6)) {
      call.none();
    } else {
      add_channels(call, random, shape, floats);
    }
  }
  add_channels(call, random, shape, floats);
  rt::Tensor& variance = call.tensor(kFloat, {shape.channels}, true);
  for (uint32_t i = 0; i < variance.numel(); ++i) {
    variance.as<float>()[i] = static_cast<float>(random.integer(1, 1 << 20)) * 0x1p-19F;
  }
  call.real(0.1);
  call.real(1e-5);
  call.result(kFloat, {1, shape.channels, shape.height, shape.width}, channels_last);
  call.tensor(kFloat, {0}, false);
  call.tensor(kFloat, {0}, false);
  call.none();  // the list of outputs
}

}  // namespace

void call_batch_norm(Call& call, Random& random, const ImageShape& shape, Floats floats) {
  add_image(call, random, shape, true, floats);
  finish_batch_norm(call, random, shape, floats, true);
}

void random_relu(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  add_image(call, random, shape, random.one_in(6), floats);
  out_image(call, shape, false);
}

void random_hardtanh(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  add_image(call, random, shape, !random.one_in(6), floats);
  call.real(random.choice<double>({0.0, -1.0, -0.25, 0.5}));
  call.real(random.choice<double>({6.0, 1.0, 0.25, 0.0}));
  out_image(call, shape);
}

void random_clamp(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  add_image(call, random, shape, !random.one_in(6), floats);
  for (int i = 0; i < 2; ++i) {
    if (random.one_in(3)) {
      call.none();
    } else {
      call.real(random.choice<double>({0.0, -0.5, 0.125, 1.0}));
    }
  }
  out_image(call, shape);
}

void random_float_add(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  const rt::ScalarType type = random_type(random);
  add_operand(call, random, shape, type, floats);
  add_operand(call, random, shape, type, floats);
  if (type == kFloat && random.one_in(3)) {
    call.real(random.choice<double>({0.3, -1.0, 0.0}));
  } else {
    call.integer(random.choice<int32_t>({1, 1, 3}));
  }
  call.out(type, {1, shape.channels, shape.height, shape.width});
}

void random_mul(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  const rt::ScalarType type = random_type(random);
  add_operand(call, random, shape, type, floats);
  add_operand(call, random, shape, type, floats);
  call.out(type, {1, shape.channels, shape.height, shape.width});
}

void random_batch_norm(Call& call, Random& random, Floats floats) {
  const ImageShape shape = random_image(random);
  const bool channels_last = !random.one_in(5);
  add_image(call, random, shape, channels_last, floats);
  finish_batch_norm(call, random, shape, floats, channels_last);
}

void call_layer_norm(Call& call, Random& random, int32_t rows, int32_t length, bool weight,
                     bool bias, Floats floats) {
  fill_floats(call.tensor(kFloat, {rows, length}, false), random, floats);
  call.list({length});
  for (const bool there : {weight, bias}) {
    if (there) {
      fill_floats(call.tensor(kFloat, {length}, true), random, floats);
    } else {
      call.none();
    }
  }
  call.real(1e-5);
  call.result(kFloat, {rows, length});
  call.tensor(kFloat, {rows, 1}, false);
  call.tensor(kFloat, {rows, 1}, false);
  call.none();  // the list of outputs
}

void random_layer_norm(Call& call, Random& random, Floats floats) {
  const bool weight = !random.one_in(6);
  const bool bias = !random.one_in(6);
  call_layer_norm(call, random, random.integer(1, 10), random.integer(1, 70), weight, bias, floats);
}

}  // namespace device
