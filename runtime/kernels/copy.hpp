// Copies between layouts, for elements of any size.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/core/tensor.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// Copies what `walk` visits from operand 0 at `from` to operand 1 at `to`; offsets and strides
// count elements. Source and destination do not overlap, or are the same.
template <typename T>
void copy_elements(const Walk<2>& walk, const T* from, T* to) {
  walk.rows([&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    const T* x = from + offset[0];
    T* y = to + offset[1];
    if (stride[0] == 1 && stride[1] == 1) {
      std::memmove(y, x, static_cast<uint32_t>(count) * sizeof(T));
      return;
    }
    for (int32_t i = 0; i < count; ++i, x += stride[0], y += stride[1]) *y = *x;
  });
}

inline void copy_elements(const Walk<2>& walk, const Tensor& from, int32_t from_offset, Tensor& to,
                          int32_t to_offset) {
  switch (element_bytes(to.type())) {
    case 1:
      return copy_elements(walk, from.as<uint8_t>() + from_offset, to.as<uint8_t>() + to_offset);
    case 2:
      return copy_elements(walk, from.as<uint16_t>() + from_offset, to.as<uint16_t>() + to_offset);
    case 4:
      return copy_elements(walk, from.as<uint32_t>() + from_offset, to.as<uint32_t>() + to_offset);
    default:
      return copy_elements(walk, from.as<uint64_t>() + from_offset, to.as<uint64_t>() + to_offset);
  }
}

// Copies index by index; both have the same shape and type, each its own layout.
inline void copy_layout(const Tensor& from, Tensor& to) {
  const Strides from_strides = from.strides();
  const Strides to_strides = to.strides();
  Walk<2> walk;
  for (const uint8_t dim : to.dim_order()) {
    walk.add(to.size(dim), {from_strides.of[dim], to_strides.of[dim]});
  }
  copy_elements(walk, from, 0, to, 0);
}

}  // namespace rt::kernels
