// aten::sin, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::sin(x); }

}  // namespace

RT_KERNEL("aten::sin.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
