// aten::atan2, float32, broadcast.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float angle(float y, float x) { return std::atan2(y, x); }

}  // namespace

RT_KERNEL("aten::atan2.out", prepare_float_pair, run_float_pair<angle>);

}  // namespace rt::kernels
