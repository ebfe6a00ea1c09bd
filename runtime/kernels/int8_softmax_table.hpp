// int8 softmax with a table: a difference of two int8 has 256 values, each has one exponential.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/int8_softmax.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::softmax {

inline constexpr uint32_t kTableValues = 256;

// Without a table every element costs two exponentials.
inline bool suits_table(const Args& args) { return args.tensor(kInput).numel() > kTableValues / 2; }

inline Error prepare_table(Args& args, Needs& needs) {
  RT_TRY(rt_checks_softmax(args, needs));
  if (suits_table(args)) needs.temporary_bytes = kTableValues * sizeof(int32_t);
  return Error::kOk;
}

inline Error run_table(const Args& args, std::span<std::byte> temporary) {
  if (!suits_table(args)) return rt_fallback_softmax(args, temporary);
  const Scale scale = scale_of(args);
  int32_t* const of_zero = reinterpret_cast<int32_t*>(temporary.data()) + kTableValues - 1;
  for (int32_t difference = -255; difference <= 0; ++difference) {
    of_zero[difference] = scale.exponential_of(difference);
  }
  lines(args, [=](int32_t difference) { return of_zero[difference]; });
  return Error::kOk;
}

}  // namespace rt::kernels::softmax
