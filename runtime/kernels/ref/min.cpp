// aten::min of all elements, or along a dimension with indices. float32, int32,
// int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::min.unary_out", prepare_extreme_of_all, run_extreme_of_all<Smallest>);
RT_KERNEL("aten::min.dim_min", prepare_best, run_best<LessThan>);

}  // namespace rt::kernels
