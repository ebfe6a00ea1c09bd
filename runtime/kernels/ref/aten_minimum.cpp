// aten::minimum, broadcast: the smaller of two numbers; a NaN wins. float32,
// int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

}  // namespace

RT_KERNEL("aten::minimum.out", prepare_number_pair, run_number_pair<Minimum>);

}  // namespace rt::kernels
