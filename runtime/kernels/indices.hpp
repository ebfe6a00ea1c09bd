// Indices that come from tensors, so are known only when the program runs.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"

namespace rt::kernels {

inline Error expect_indices(Args &args, const Tensor &indices, uint32_t argument) {
  const bool fits = indices.type() == ScalarType::kLong || indices.type() == ScalarType::kInt;
  return fits ? Error::kOk : args.refuse(argument, Error::kArgumentScalarType);
}

// Reads the index at an offset in elements; negative ones count from the end.
// @return index-out-of-range.
inline Error read_index(const Tensor &indices, int32_t offset, int32_t size, int32_t &out) {
  int64_t index = indices.type() == ScalarType::kLong ? indices.as<int64_t>()[offset]
                                                      : indices.as<int32_t>()[offset];
  if (index < 0) index += size;
  if (index < 0 || index >= size) return Error::kIndexOutOfRange;
  out = static_cast<int32_t>(index);
  return Error::kOk;
}

}  // namespace rt::kernels
