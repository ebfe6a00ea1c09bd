// Checks that the `prepare` functions of several kernels share. Each names the argument at fault.
#pragma once

#include <initializer_list>

#include "runtime/core/args.hpp"
#include "runtime/kernels/requantize.hpp"

namespace rt::kernels {

inline Error expect_type(Args& args, std::initializer_list<uint32_t> tensors, ScalarType type) {
  for (const uint32_t i : tensors) {
    if (args.is_none(i)) continue;
    if (args.tensor(i).type() != type) return args.refuse(i, Error::kArgumentScalarType);
  }
  return Error::kOk;
}

inline Error expect_rank(Args& args, uint32_t i, uint32_t rank) {
  return args.tensor(i).rank() == rank ? Error::kOk : args.refuse(i, Error::kArgumentShape);
}

inline Error expect_range(Args& args, uint32_t i, int32_t low, int32_t high) {
  const int32_t value = args.integer(i);
  return value >= low && value <= high ? Error::kOk : args.refuse(i, Error::kArgumentValue);
}

// A zero point of int8, and the negated one that CMSIS-NN calls an offset.
inline Error expect_zero_point(Args& args, uint32_t i) { return expect_range(args, i, -128, 127); }
inline Error expect_offset(Args& args, uint32_t i) { return expect_range(args, i, -127, 128); }

// Bounds of int8, the lower one not above the upper.
inline Error expect_activation(Args& args, uint32_t low, uint32_t high) {
  RT_TRY(expect_range(args, low, -128, 127));
  return expect_range(args, high, args.integer(low), 127);
}

inline Error expect_requantization(Args& args, uint32_t multiplier, uint32_t shift) {
  const Error error = check_requantization(args.integer(multiplier), args.integer(shift));
  return error == Error::kOk ? error : args.refuse(shift, error);
}

// One multiplier and shift for each output channel, constant: a shift that changed at run time
// could not be checked here.
inline Error expect_requantizations(Args& args, uint32_t multipliers, uint32_t shifts,
                                    int32_t channels) {
  RT_TRY(expect_type(args, {multipliers, shifts}, ScalarType::kInt));
  for (const uint32_t i : {multipliers, shifts}) {
    if (!args.tensor(i).is_constant()) return args.refuse(i, Error::kArgumentValue);
    if (args.tensor(i).numel() != static_cast<uint32_t>(channels)) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  const int32_t* multiplier = args.tensor(multipliers).as<int32_t>();
  const int32_t* shift = args.tensor(shifts).as<int32_t>();
  for (int32_t c = 0; c < channels; ++c) {
    const Error error = check_requantization(multiplier[c], shift[c]);
    if (error != Error::kOk) return args.refuse(shifts, error);
  }
  return Error::kOk;
}

// An optional vector of int32, `count` long.
inline Error expect_bias(Args& args, uint32_t i, int32_t count) {
  if (args.is_none(i)) return Error::kOk;
  RT_TRY(expect_type(args, {i}, ScalarType::kInt));
  return args.tensor(i).numel() == static_cast<uint32_t>(count)
             ? Error::kOk
             : args.refuse(i, Error::kArgumentShape);
}

inline Error expect_channels_last(Args& args, std::initializer_list<uint32_t> tensors) {
  for (const uint32_t i : tensors) {
    if (!args.tensor(i).is_channels_last()) return args.refuse(i, Error::kArgumentLayout);
  }
  return Error::kOk;
}

inline Error expect_contiguous(Args& args, std::initializer_list<uint32_t> tensors) {
  for (const uint32_t i : tensors) {
    if (!args.tensor(i).is_contiguous()) return args.refuse(i, Error::kArgumentLayout);
  }
  return Error::kOk;
}

}  // namespace rt::kernels
