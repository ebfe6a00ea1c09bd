// aten::floor_divide, broadcast: quotients rounded down. float32, int32, int64.
//
// An integer divided by 0 gives 0 (torch refuses it).

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/floor_division.hpp"

namespace rt::kernels {
namespace {

struct FloorDivide {
  float operator()(float a, float b) const { return floored_quotient(a, b); }
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if (b == -1) return wrapped_difference(T{}, a);
    const T whole = static_cast<T>(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
  }
};

}  // namespace

RT_KERNEL("aten::floor_divide.out", prepare_number_pair, run_number_pair<FloorDivide>);

}  // namespace rt::kernels
