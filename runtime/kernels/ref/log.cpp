// aten::log, float32.

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::log(x); }

}  // namespace

RT_KERNEL("aten::log.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
