// Elementwise work over tensors of any layout, row by row. The walk is compiled
// once; what a kernel adds is the loop over one row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/tensor.hpp"

namespace rt::kernels {

// One operand's part of a row: its first element and the bytes to the next one.
struct Lane {
  const std::byte *data;
  int32_t step;

  template <typename T>
  const T &at() const {
    return *reinterpret_cast<const T *>(data);
  }
  void next() { data += step; }
};

struct OutLane {
  std::byte *data;
  int32_t step;

  template <typename T>
  T &at() const {
    return *reinterpret_cast<T *>(data);
  }
  void next() { data += step; }
};

using UnaryRow = void (*)(Lane x, OutLane y, int32_t count, const void *parameters);
using BinaryRow = void (*)(Lane a, Lane b, OutLane y, int32_t count, const void *parameters);
using TernaryRow = void (*)(Lane a, Lane b, Lane c, OutLane y, int32_t count,
                            const void *parameters);

// Call `row` for each row of `y`; the operands are broadcast to its shape.
void walk_rows(const Tensor &x, Tensor &y, UnaryRow row, const void *parameters);
void walk_rows(const Tensor &a, const Tensor &b, Tensor &y, BinaryRow row, const void *parameters);
void walk_rows(const Tensor &a, const Tensor &b, const Tensor &c, Tensor &y, TernaryRow row,
               const void *parameters);

// y = function(x), element by element.
template <typename In, typename Out, typename Function>
void map(const Tensor &x, Tensor &y, const Function &function) {
  constexpr UnaryRow kRow = [](Lane in, OutLane out, int32_t count, const void *parameters) {
    const Function f = *static_cast<const Function *>(parameters);
    for (int32_t i = 0; i < count; ++i, in.next(), out.next()) out.at<Out>() = f(in.at<In>());
  };
  walk_rows(x, y, kRow, &function);
}

// y = function(a, b), element by element, broadcast.
template <typename In, typename Out, typename Function>
void map(const Tensor &a, const Tensor &b, Tensor &y, const Function &function) {
  constexpr BinaryRow kRow = [](Lane p, Lane q, OutLane out, int32_t count,
                                const void *parameters) {
    const Function f = *static_cast<const Function *>(parameters);
    for (int32_t i = 0; i < count; ++i, p.next(), q.next(), out.next()) {
      out.at<Out>() = f(p.at<In>(), q.at<In>());
    }
  };
  walk_rows(a, b, y, kRow, &function);
}

}  // namespace rt::kernels
