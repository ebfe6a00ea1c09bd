// aten::amin: the smallest over some dimensions. float32, int32, int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {

RT_KERNEL("aten::amin.out", prepare_extreme, run_extreme<Smallest>);

}  // namespace rt::kernels
