// aten::reflection_pad1d, 2d and 3d: mirrored at the edges, which are not repeated. Any type.

#include "runtime/kernels/edge_pad.hpp"

namespace rt::kernels {
namespace {

int32_t mirrored(int32_t i, int32_t size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * (size - 1) - i;
}

}  // namespace

RT_KERNEL("aten::reflection_pad1d.out", (prepare_edge_pad<1, 1>), run_edge_pad<mirrored>);
RT_KERNEL("aten::reflection_pad2d.out", (prepare_edge_pad<2, 1>), run_edge_pad<mirrored>);
RT_KERNEL("aten::reflection_pad3d.out", (prepare_edge_pad<3, 1>), run_edge_pad<mirrored>);

}  // namespace rt::kernels
