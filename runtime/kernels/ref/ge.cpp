// aten::ge: whether a >= b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct GreaterOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

}  // namespace

RT_KERNEL("aten::ge.Tensor_out", prepare_comparison, run_comparison<GreaterOrEqual>);
RT_KERNEL("aten::ge.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<GreaterOrEqual>);

}  // namespace rt::kernels
