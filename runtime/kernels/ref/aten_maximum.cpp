// aten::maximum, broadcast: the larger of two numbers; a NaN wins. float32,
// int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

}  // namespace

RT_KERNEL("aten::maximum.out", prepare_number_pair, run_number_pair<Maximum>);

}  // namespace rt::kernels
