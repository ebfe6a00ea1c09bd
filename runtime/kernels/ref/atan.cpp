// aten::atan, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::atan(x); }

}  // namespace

RT_KERNEL("aten::atan.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
