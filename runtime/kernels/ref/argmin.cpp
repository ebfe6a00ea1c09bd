// aten::argmin: the index of the smallest. float32, int32, int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::argmin.out", prepare_index_of, run_index_of<LessThan>);

}  // namespace rt::kernels
