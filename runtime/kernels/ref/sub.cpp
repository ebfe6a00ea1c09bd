// aten::sub: self - alpha * other, broadcast, or a number in place of other.
// float32, int32, int64.

#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scaled_sum.hpp"

namespace rt::kernels {
namespace {

struct Difference {
  template <typename T>
  static T of(T self, T other, T alpha) {
    return wrapped_difference(self, wrapped_product(alpha, other));
  }
};

}  // namespace

RT_REFERENCE_KERNEL(sub, "aten::sub.out", scaled_sum::prepare, scaled_sum::run<Difference>);
RT_KERNEL("aten::sub.Scalar_out", scaled_sum::prepare_scalar, scaled_sum::run_scalar<Difference>);

}  // namespace rt::kernels
