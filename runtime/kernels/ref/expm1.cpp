// aten::expm1, float32: e^x - 1.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::expm1(x); }

}  // namespace

RT_KERNEL("aten::expm1.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
