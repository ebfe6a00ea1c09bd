// cortex_m::softmax with a table.

#include "runtime/kernels/int8_softmax_table.hpp"

namespace rt::kernels::dsp {

RT_KERNEL("cortex_m::softmax.out", softmax::prepare_table, softmax::run_table);

}  // namespace rt::kernels::dsp
