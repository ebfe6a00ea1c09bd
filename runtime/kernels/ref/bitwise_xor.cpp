// aten::bitwise_xor, broadcast, of integers and bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace

RT_KERNEL("aten::bitwise_xor.Tensor_out", prepare_bitwise, run_bitwise<Xor>);
RT_KERNEL("aten::bitwise_xor.Scalar_out", prepare_bitwise_scalar, run_bitwise_scalar<Xor>);

}  // namespace rt::kernels
