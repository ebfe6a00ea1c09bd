// aten::eq: whether a == b, of tensors (broadcast) or a tensor and a number.

#include "runtime/kernels/comparison.hpp"

namespace rt::kernels {
namespace {

struct Equal {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

}  // namespace

RT_KERNEL("aten::eq.Tensor_out", prepare_comparison, run_comparison<Equal>);
RT_KERNEL("aten::eq.Scalar_out", prepare_comparison_scalar, run_comparison_scalar<Equal>);

}  // namespace rt::kernels
