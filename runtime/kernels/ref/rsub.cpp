// aten::rsub: other - alpha * self, other a number.
// float32, int32, int64.

#include "runtime/kernels/scaled_sum.hpp"

namespace rt::kernels {
namespace {

struct Reverse {
  template <typename T>
  static T of(T self, T other, T alpha) {
    return wrapped_difference(other, wrapped_product(alpha, self));
  }
};

}  // namespace

RT_KERNEL("aten::rsub.Scalar_out", scaled_sum::prepare_scalar, scaled_sum::run_scalar<Reverse>);

}  // namespace rt::kernels
