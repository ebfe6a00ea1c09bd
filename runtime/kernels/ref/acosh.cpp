// aten::acosh, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::acosh(x); }

}  // namespace

RT_KERNEL("aten::acosh.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
