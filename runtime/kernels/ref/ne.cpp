// aten::ne: whether a != b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct NotEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};

}  // namespace

RT_KERNEL("aten::ne.Tensor_out", prepare_comparison, run_comparison<NotEqual>);
RT_KERNEL("aten::ne.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<NotEqual>);

}  // namespace rt::kernels
