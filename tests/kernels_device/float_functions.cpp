#include <cmath>

#include "tests/kernels_device/float_calls.hpp"

namespace device {
namespace {

constexpr rt::ScalarType kFloat = rt::ScalarType::kFloat;
constexpr double kHalfPlace = 0x1p-24;   // a rounding, relative
constexpr double kVanishing = 0x1p-125;  // what is taken for zero
constexpr int32_t kMostLogit = 100;

// Logits of all magnitudes, some of them alike.
void fill_logits(rt::Tensor& tensor, Random& random, Floats floats) {
  fill_floats(tensor, random, floats);
  const auto scale = static_cast<float>(random.choice<int32_t>({1, 4, 20, kMostLogit}));
  for (uint32_t i = 0; i < tensor.numel(); ++i) tensor.as<float>()[i] *= scale;
}

// The line of element i: its first element, how many there are, and how far apart.
struct Line {
  const float* first;
  uint32_t count, step;
};

Line line_of(const rt::Args& args, uint32_t i) {
  const rt::Tensor& input = args.tensor(0);
  const auto columns = static_cast<uint32_t>(input.size(1));
  const bool is_row = args.integer(1) != 0;
  const float* data = input.as<float>();
  if (is_row) return {data + i / columns * columns, columns, 1};
  return {data + i % columns, static_cast<uint32_t>(input.size(0)), columns};
}

struct Powers {
  double most, sum;
};

Powers powers_of(const Line& line) {
  Powers powers = {static_cast<double>(line.first[0]), 0.0};
  for (uint32_t k = 0; k < line.count; ++k) {
    const auto x = static_cast<double>(line.first[k * line.step]);
    if (x > powers.most) powers.most = x;
  }
  for (uint32_t k = 0; k < line.count; ++k) {
    powers.sum += std::exp(static_cast<double>(line.first[k * line.step]) - powers.most);
  }
  return powers;
}

}  // namespace

void call_float_softmax(Call& call, Random& random, int32_t rows, int32_t columns, int32_t along,
                        Floats floats) {
  fill_logits(call.tensor(kFloat, {rows, columns}, false), random, floats);
  call.integer(along);
  call.boolean(false);
  call.out(kFloat, {rows, columns});
}

void call_sigmoid(Call& call, Random& random, int32_t count, Floats floats) {
  fill_logits(call.tensor(kFloat, {count}, false), random, floats);
  call.out(kFloat, {count});
}

void call_gelu(Call& call, Random& random, int32_t count, const char* approximate, Floats floats) {
  fill_logits(call.tensor(kFloat, {count}, false), random, floats);
  call.text(approximate);
  call.out(kFloat, {count});
}

void random_float_softmax(Call& call, Random& random, Floats floats) {
  call_float_softmax(call, random, random.integer(1, 4), random.integer(1, 21),
                     random.one_in(6) ? 0 : random.choice<int32_t>({1, -1}), floats);
}

void random_sigmoid(Call& call, Random& random, Floats floats) {
  call_sigmoid(call, random, random.integer(1, 60), floats);
}

void random_gelu(Call& call, Random& random, Floats floats) {
  call_gelu(call, random, random.integer(1, 60), random.one_in(5) ? "none" : "tanh", floats);
}

// The difference to the largest is rounded, which e^x multiplies; then come the function, as many
// additions as there are terms, and the division.
Exact exact_softmax(const rt::Args& args, uint32_t i) {
  const Line line = line_of(args, i);
  const Powers powers = powers_of(line);
  const double below = powers.most - static_cast<double>(args.tensor(0).as<float>()[i]);
  const double value = std::exp(-below) / powers.sum;
  return {value, value * kHalfPlace * (below + line.count + 8.0) + kVanishing};
}

Exact exact_log_softmax(const rt::Args& args, uint32_t i) {
  const Line line = line_of(args, i);
  const Powers powers = powers_of(line);
  const double below = powers.most - static_cast<double>(args.tensor(0).as<float>()[i]);
  const double log_sum = std::log(powers.sum);
  return {-below - log_sum, kHalfPlace * (2.0 * below + 4.0 * log_sum + line.count + 8.0)};
}

Exact exact_sigmoid(const rt::Args& args, uint32_t i) {
  const auto x = static_cast<double>(args.tensor(0).as<float>()[i]);
  const double value = 1.0 / (1.0 + std::exp(-x));
  return {value, value * kHalfPlace * 8.0 + kVanishing};
}

// 1 + tanh u is as good as 1 has digits, so x decides.
Exact exact_gelu(const rt::Args& args, uint32_t i) {
  const auto x = static_cast<double>(args.tensor(0).as<float>()[i]);
  const double pi = 3.14159265358979323846;
  const bool by_tanh = args.text(1) == "tanh";
  const double u = std::sqrt(2.0 / pi) * (x + 0.044715 * x * x * x);
  const double twice = by_tanh ? 1.0 + std::tanh(u) : 1.0 + std::erf(x * std::sqrt(0.5));
  return {0.5 * x * twice, std::fabs(x) * kHalfPlace * 6.0 + kVanishing};
}

}  // namespace device
