#include "runtime/kernels/rows.hpp"

#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

// Calls visit(count, offsets, strides), both in bytes and `y` last, for each
// row of `y`.
template <uint32_t kInputs, typename Visit>
void visit_rows(const Tensor *const (&inputs)[kInputs], const Tensor &y, Visit visit) {
  Strides strides[kInputs];
  for (uint32_t k = 0; k < kInputs; ++k) strides[k] = inputs[k]->strides();
  const Strides y_strides = y.strides();
  Walk<kInputs + 1> walk;
  for (const uint8_t dim : y.dim_order()) {
    int32_t stride[kInputs + 1];
    for (uint32_t k = 0; k < kInputs; ++k) {
      stride[k] = broadcast_stride(*inputs[k], strides[k], dim, y.rank()) *
                  static_cast<int32_t>(element_bytes(inputs[k]->type()));
    }
    stride[kInputs] = y_strides.of[dim] * static_cast<int32_t>(element_bytes(y.type()));
    walk.add(y.size(dim), stride);
  }
  walk.rows(visit);
}

}  // namespace

void walk_rows(const Tensor &x, Tensor &y, UnaryRow row, const void *parameters) {
  visit_rows<1>({&x}, y, [&](int32_t count, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    row({x.data() + offset[0], stride[0]}, {y.data() + offset[1], stride[1]}, count, parameters);
  });
}

void walk_rows(const Tensor &a, const Tensor &b, Tensor &y, BinaryRow row, const void *parameters) {
  visit_rows<2>({&a, &b}, y,
                [&](int32_t count, const int32_t(&offset)[3], const int32_t(&stride)[3]) {
                  row({a.data() + offset[0], stride[0]}, {b.data() + offset[1], stride[1]},
                      {y.data() + offset[2], stride[2]}, count, parameters);
                });
}

void walk_rows(const Tensor &a, const Tensor &b, const Tensor &c, Tensor &y, TernaryRow row,
               const void *parameters) {
  visit_rows<3>({&a, &b, &c}, y,
                [&](int32_t count, const int32_t(&offset)[4], const int32_t(&stride)[4]) {
                  row({a.data() + offset[0], stride[0]}, {b.data() + offset[1], stride[1]},
                      {c.data() + offset[2], stride[2]}, {y.data() + offset[3], stride[3]}, count,
                      parameters);
                });
}

}  // namespace rt::kernels
