// aten::max of all elements, or along a dimension with indices. float32, int32,
// int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::max.unary_out", prepare_extreme_of_all, run_extreme_of_all<Largest>);
RT_KERNEL("aten::max.dim_max", prepare_best, run_best<GreaterThan>);

}  // namespace rt::kernels
