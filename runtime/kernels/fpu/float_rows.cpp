#include "runtime/kernels/fpu/float_rows.hpp"

#include "runtime/kernels/rows.hpp"

namespace rt::kernels::fpu {
namespace {

constexpr int32_t kFloat = sizeof(float);

// An operand that is repeated along a row has step 0.
bool lie_dense(const Lane& a, const OutLane& y) { return a.step == kFloat && y.step == kFloat; }

void sum_row(Lane a, Lane b, OutLane y, int32_t count, const void* parameters) {
  const float alpha = *static_cast<const float*>(parameters);
  const auto size = static_cast<uint32_t>(count);
  if (lie_dense(a, y) && b.step == kFloat) {
    return rt_float_sum(&a.at<float>(), &b.at<float>(), &y.at<float>(), size, &alpha);
  }
  if (lie_dense(a, y) && b.step == 0) {
    const float addend = alpha * b.at<float>();
    return rt_float_sum_one(&a.at<float>(), &y.at<float>(), size, &addend);
  }
  for (int32_t i = 0; i < count; ++i, a.next(), b.next(), y.next()) {
    y.at<float>() = a.at<float>() + alpha * b.at<float>();
  }
}

void product_row(Lane a, Lane b, OutLane y, int32_t count, const void*) {
  const auto size = static_cast<uint32_t>(count);
  if (lie_dense(a, y) && b.step == kFloat) {
    return rt_float_product(&a.at<float>(), &b.at<float>(), &y.at<float>(), size);
  }
  if (lie_dense(a, y) && b.step == 0) {
    const float factor = b.at<float>();
    return rt_float_product_one(&a.at<float>(), &y.at<float>(), size, &factor);
  }
  for (int32_t i = 0; i < count; ++i, a.next(), b.next(), y.next()) {
    y.at<float>() = a.at<float>() * b.at<float>();
  }
}

}  // namespace

void sum(const Tensor& a, const Tensor& b, Tensor& out, float alpha) {
  walk_rows(a, b, out, sum_row, &alpha);
}

void product(const Tensor& a, const Tensor& b, Tensor& out) {
  walk_rows(a, b, out, product_row, nullptr);
}

}  // namespace rt::kernels::fpu
