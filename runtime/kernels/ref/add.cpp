// aten::add: self + alpha * other, broadcast, or a number in place of other.
// float32, int32, int64.

#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scaled_sum.hpp"

namespace rt::kernels {
namespace {

struct Sum {
  template <typename T>
  static T of(T self, T other, T alpha) {
    return wrapped_sum(self, wrapped_product(alpha, other));
  }
};

}  // namespace

RT_REFERENCE_KERNEL(add, "aten::add.out", scaled_sum::prepare, scaled_sum::run<Sum>);
RT_KERNEL("aten::add.Scalar_out", scaled_sum::prepare_scalar, scaled_sum::run_scalar<Sum>);

}  // namespace rt::kernels
