// aten::log2, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::log2(x); }

}  // namespace

RT_KERNEL("aten::log2.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
