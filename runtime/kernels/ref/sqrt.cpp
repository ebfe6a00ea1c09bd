// aten::sqrt, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::sqrt(x); }

}  // namespace

RT_KERNEL("aten::sqrt.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
