// aten::cosh, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::cosh(x); }

}  // namespace

RT_KERNEL("aten::cosh.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
