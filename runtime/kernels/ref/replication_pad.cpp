// aten::replication_pad1d, 2d and 3d: the edges go on. Any type.

#include "runtime/kernels/edge_pad.hpp"

namespace rt::kernels {
namespace {

int32_t nearest(int32_t i, int32_t size) {
  if (i < 0) return 0;
  return i < size ? i : size - 1;
}

}  // namespace

RT_KERNEL("aten::replication_pad1d.out", (prepare_edge_pad<1, 0>), run_edge_pad<nearest>);
RT_KERNEL("aten::replication_pad2d.out", (prepare_edge_pad<2, 0>), run_edge_pad<nearest>);
RT_KERNEL("aten::replication_pad3d.out", (prepare_edge_pad<3, 0>), run_edge_pad<nearest>);

}  // namespace rt::kernels
