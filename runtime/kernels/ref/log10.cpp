// aten::log10, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::log10(x); }

}  // namespace

RT_KERNEL("aten::log10.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
