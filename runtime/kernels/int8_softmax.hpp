// The arithmetic of int8 softmax, CMSIS-NN's arm_softmax_s8: exponentials of the distance to the
// largest element as Q0.31, summed as Q12.19, divided by a Newton-Raphson reciprocal.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "runtime/core/args.hpp"
#include "runtime/kernels/requantize.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels::softmax {

enum Argument : uint32_t {
  kInput,
  kDim,
  kInputZeroPoint,
  kOutputZeroPoint,
  kMultiplier,
  kShift,
  kDiffMin,
  kOut,
};

constexpr int32_t kSumBits = 12;  // integer bits of the sum; the terms are below 1
constexpr int32_t kMaxCount = (1 << kSumBits) - 1;
constexpr int32_t kQ31Max = std::numeric_limits<int32_t>::max();

inline uint32_t softmax_dim(const Args& args) {
  const int32_t dim = args.integer(kDim);
  const auto rank = static_cast<int32_t>(args.tensor(kInput).rank());
  return static_cast<uint32_t>(dim < 0 ? dim + rank : dim);
}

// @return a * b * 2^-31, to nearest.
inline int32_t high_product(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// @return value * 2^-bits, to nearest, ties away from zero.
inline int32_t divide_by_power(int32_t value, int32_t bits) {
  const int64_t half = int64_t{1} << (bits - 1);
  return static_cast<int32_t>((int64_t{value} + half - (value < 0 ? 1 : 0)) >> bits);
}

inline int32_t quadruple(int32_t value) {
  constexpr int32_t kLimit = (1 << 29) - 1;
  if (value > kLimit) return kQ31Max;
  return value < -kLimit ? std::numeric_limits<int32_t>::min() : value * 4;
}

// @return e^value as Q0.31 of a value <= 0 as Q5.26 (arm_nn_exp_on_negative_values).
inline int32_t exponential(int32_t value) {
  if (value == 0) return kQ31Max;
  constexpr int32_t kQuarter = 1 << 24;
  const int32_t in_quarter = (value & (kQuarter - 1)) - kQuarter;
  const int32_t rest = in_quarter - value;
  // e^(x - 1/8) by its Taylor series, x in [-1/8, 1/8).
  const int32_t x = in_quarter * 32 + (1 << 28);
  const int32_t x2 = high_product(x, x);
  const int32_t x4_quarter = divide_by_power(high_product(x2, x2), 2);
  const int32_t tail = high_product(x4_quarter + high_product(x2, x), 715827883) + x2;
  constexpr int32_t kExpMinusEighth = 1895147668;
  int32_t result = kExpMinusEighth + high_product(kExpMinusEighth, x + divide_by_power(tail, 1));
  // e^-(1/4), e^-(1/2), ..., e^-16.
  static constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                         39332535,   720401,     242};
  for (uint32_t bit = 0; bit < 7; ++bit) {
    if ((rest >> (24 + bit) & 1) != 0) result = high_product(result, kFactors[bit]);
  }
  return result;
}

// @return 1 / (1 + value) of a value in [0, 1), both Q0.31
// (arm_nn_one_over_one_plus_x_for_x_in_0_1).
inline int32_t reciprocal(int32_t value) {
  const auto half_denominator = static_cast<int32_t>((int64_t{value} + kQ31Max + 1) / 2);
  int32_t x = 1515870810 + high_product(half_denominator, -1010580540);
  for (int32_t step = 0; step < 3; ++step) {
    x += quadruple(high_product(x, (1 << 29) - high_product(half_denominator, x)));
  }
  return x > (1 << 30) - 1 ? kQ31Max : x * 2;
}

struct Scale {
  int32_t multiplier, shift, diff_min;

  // 0 below the least difference: then it adds nothing to the sum and gives -128.
  int32_t exponential_of(int32_t difference) const {
    if (difference < diff_min) return 0;
    return exponential(high_product(difference * (int32_t{1} << shift), multiplier));
  }
};

// @return the scale of a call's differences.
inline Scale scale_of(const Args& args) {
  return {args.integer(kMultiplier), args.integer(kShift), args.integer(kDiffMin)};
}

// Softmax of one line; `exponential_of` takes a difference and returns 0 below the least.
template <typename Exponential>
void line(const int8_t* in, int32_t in_step, int8_t* out, int32_t out_step, int32_t count,
          Exponential exponential_of) {
  int32_t largest = in[0];
  for (int32_t i = 1; i < count; ++i) {
    if (in[i * in_step] > largest) largest = in[i * in_step];
  }
  uint32_t sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t term = exponential_of(in[i * in_step] - largest);
    sum += static_cast<uint32_t>(divide_by_power(term, kSumBits));
  }
  const int32_t headroom = std::countl_zero(sum);
  const int32_t inverse = reciprocal(static_cast<int32_t>((sum << headroom) - (1U << 31)));
  const int32_t bits = kSumBits - headroom + 23;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t term = exponential_of(in[i * in_step] - largest);
    const int32_t result = -128 + divide_by_power(high_product(inverse, term), bits);
    out[i * out_step] = static_cast<int8_t>(clamp(result, -128, 127));
  }
}

// Each line of the tensor along its dimension.
template <typename Exponential>
void lines(const Args& args, Exponential exponential_of) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const uint32_t along = softmax_dim(args);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    if (dim != along) walk.add(out.size(dim), {in_strides.of[dim], out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    for (int32_t i = 0; i < count; ++i) {
      line(input.as<int8_t>() + offset[0] + i * stride[0], in_strides.of[along],
           out.as<int8_t>() + offset[1] + i * stride[1], out_strides.of[along], input.size(along),
           exponential_of);
    }
  });
}

}  // namespace rt::kernels::softmax
