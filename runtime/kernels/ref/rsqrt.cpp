// aten::rsqrt, float32: 1 / sqrt(x).

#include <cmath>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return 1.0F / std::sqrt(x); }

}  // namespace

RT_KERNEL("aten::rsqrt.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
