// Softmax and its logarithm over rows of floats.
#pragma once

#include "runtime/kernels/fpu/float_math.hpp"
#include "runtime/kernels/lines.hpp"

namespace rt::kernels::fpu {

// Whether the lines of a softmax lie one behind the other, alike in input and output.
inline bool are_rows(const Args& args) {
  const Tensor& input = args.tensor(0);
  if (input.rank() == 0 || !same_layout(input, args.tensor(3))) return false;
  const uint32_t along = get_dim(args, 0, 1);
  return input.strides().of[along] == 1 && input.size(along) > 1;
}

inline float largest(const float* x, int32_t count) {
  float result = -__builtin_inff();
  for (; count >= kLanes; count -= kLanes, x += kLanes) result = largest_of(result, load(x));
  return count > 0 ? largest_of(result, or_lowest(load(x, count), count)) : result;
}

// @return the sum of e^(x - most), written to `out` if wanted.
template <bool kWritten>
float powers(const float* x, float* out, int32_t count, float most) {
  Vector sum = all(0.0F);
  for (; count >= kLanes; count -= kLanes, x += kLanes) {
    const Vector power = exponential(subtract(load(x), all(most)));
    if constexpr (kWritten) {
      store(out, power);
      out += kLanes;
    }
    sum = add(sum, power);
  }
  if (count > 0) {
    const Vector power = exponential(subtract(load(x, count), all(most)));
    if constexpr (kWritten) store(out, power, count);
    sum = add(sum, or_zero(power, count));
  }
  return sum_of(sum);
}

// Calls row(x, out, count) for every row.
template <typename Row>
void for_rows(const Args& args, Row row) {
  const int32_t count = args.tensor(0).size(get_dim(args, 0, 1));
  const float* x = args.tensor(0).as<float>();
  float* out = args.tensor(3).as<float>();
  for (auto left = static_cast<int32_t>(args.tensor(0).numel()); left > 0; left -= count) {
    row(x, out, count);
    x += count;
    out += count;
  }
}

}  // namespace rt::kernels::fpu
