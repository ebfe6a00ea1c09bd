// Elementwise kernels of two operands, run by run: where all three tensors go on byte by byte, a
// faster function takes the run.
#pragma once

#include <cstdint>

#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// out = function(a, b), broadcast, of int8; visits `out` as it lies in memory. Of rows whose
// elements are neighbours in all three, run(a, b, out, count) does the same at once.
template <typename Run, typename Function>
void elementwise_runs(const Tensor& a, const Tensor& b, Tensor& out, Run run, Function function) {
  const Strides a_strides = a.strides();
  const Strides b_strides = b.strides();
  const Strides out_strides = out.strides();
  Walk<3> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {broadcast_stride(a, a_strides, dim, out.rank()),
                             broadcast_stride(b, b_strides, dim, out.rank()), out_strides.of[dim]});
  }
  walk.rows([&](int32_t count, const int32_t(&offset)[3], const int32_t(&stride)[3]) {
    const int8_t* x = a.as<int8_t>() + offset[0];
    const int8_t* y = b.as<int8_t>() + offset[1];
    int8_t* z = out.as<int8_t>() + offset[2];
    if (stride[0] == 1 && stride[1] == 1 && stride[2] == 1) {
      run(x, y, z, static_cast<uint32_t>(count));
      return;
    }
    for (int32_t i = 0; i < count; ++i, x += stride[0], y += stride[1], z += stride[2]) {
      *z = function(*x, *y);
    }
  });
}

}  // namespace rt::kernels
