#include "runtime/kernels/parts.hpp"

#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

// @return the step along a dimension that has `size` parts: of a single one it says nothing, and
// may be any number.
int32_t step_of(const Part &part, uint32_t dim, int32_t size) {
  return dim == part.dim && size > 1 ? part.step : 1;
}

}  // namespace

void copy_part(const Tensor &from, const Part &part, Tensor &to) {
  const Strides from_strides = from.strides();
  const Strides to_strides = to.strides();
  Walk<2> walk;
  for (const uint8_t dim : to.dim_order()) {
    const int32_t step = step_of(part, dim, to.size(dim));
    walk.add(to.size(dim), {from_strides.of[dim] * step, to_strides.of[dim]});
  }
  copy_elements(walk, from, part.begin * from_strides.of[part.dim], to, 0);
}

void copy_into_part(const Tensor &from, Tensor &to, const Part &part) {
  const Strides from_strides = from.strides();
  const Strides to_strides = to.strides();
  Walk<2> walk;
  for (const uint8_t dim : from.dim_order()) {
    const int32_t step = step_of(part, dim, from.size(dim));
    walk.add(from.size(dim), {from_strides.of[dim], to_strides.of[dim] * step});
  }
  copy_elements(walk, from, 0, to, part.begin * to_strides.of[part.dim]);
}

}  // namespace rt::kernels
