// aten::gt: whether a > b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct Greater {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};

}  // namespace

RT_KERNEL("aten::gt.Tensor_out", prepare_comparison, run_comparison<Greater>);
RT_KERNEL("aten::gt.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<Greater>);

}  // namespace rt::kernels
