// aten::lt: whether a < b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct Less {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

}  // namespace

RT_KERNEL("aten::lt.Tensor_out", prepare_comparison, run_comparison<Less>);
RT_KERNEL("aten::lt.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<Less>);

}  // namespace rt::kernels
