// aten::le: whether a <= b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct LessOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

}  // namespace

RT_KERNEL("aten::le.Tensor_out", prepare_comparison, run_comparison<LessOrEqual>);
RT_KERNEL("aten::le.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<LessOrEqual>);

}  // namespace rt::kernels
