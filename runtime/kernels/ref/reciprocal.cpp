// aten::reciprocal, float32.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return 1.0F / x; }

}  // namespace

RT_KERNEL("aten::reciprocal.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
