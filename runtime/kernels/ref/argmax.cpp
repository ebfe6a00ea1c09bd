// aten::argmax: the index of the largest. float32, int32, int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::argmax.out", prepare_index_of, run_index_of<GreaterThan>);

}  // namespace rt::kernels
