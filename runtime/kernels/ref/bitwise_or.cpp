// aten::bitwise_or, broadcast, of integers and bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

}  // namespace

RT_KERNEL("aten::bitwise_or.Tensor_out", prepare_bitwise, run_bitwise<Or>);
RT_KERNEL("aten::bitwise_or.Scalar_out", prepare_bitwise_scalar, run_bitwise_scalar<Or>);

}  // namespace rt::kernels
