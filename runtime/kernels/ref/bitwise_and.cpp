// aten::bitwise_and, broadcast, of integers and bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

}  // namespace

RT_KERNEL("aten::bitwise_and.Tensor_out", prepare_bitwise, run_bitwise<And>);
RT_KERNEL("aten::bitwise_and.Scalar_out", prepare_bitwise_scalar, run_bitwise_scalar<And>);

}  // namespace rt::kernels
