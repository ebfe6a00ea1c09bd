// aten::floor_divide, broadcast: quotients rounded down. float32, int32, int64.

#include "runtime/kernels/floor_division.hpp"

namespace rt::kernels {

RT_KERNEL("aten::floor_divide.out", prepare_number_pair, run_number_pair<FloorDivide>);

}  // namespace rt::kernels
