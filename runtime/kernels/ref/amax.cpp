// aten::amax: the largest over some dimensions. float32, int32, int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::amax.out", prepare_extreme, run_extreme<Largest>);

}  // namespace rt::kernels
