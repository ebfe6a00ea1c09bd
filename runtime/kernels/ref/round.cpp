// aten::round, float32, to nearest, ties to even.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::nearbyint(x); }

}  // namespace

RT_KERNEL("aten::round.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
