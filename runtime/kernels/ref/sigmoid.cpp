// aten::sigmoid, float32: 1 / (1 + e^-x).

#include <cmath>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

float value(float x) { return 1.0F / (1.0F + std::exp(-x)); }

}  // namespace

RT_REFERENCE_KERNEL(sigmoid, "aten::sigmoid.out", prepare_float_map, run_float_map<value>);

}  // namespace rt::kernels
