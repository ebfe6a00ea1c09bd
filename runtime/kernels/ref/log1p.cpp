// aten::log1p, float32: log(1 + x).

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return std::log1p(x); }

}  // namespace

RT_KERNEL("aten::log1p.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
