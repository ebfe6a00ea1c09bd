// aten::logical_and, broadcast; the result is bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct And {
  bool operator()(bool a, bool b) const { return a && b; }
};

}  // namespace

RT_KERNEL("aten::logical_and.out", prepare_logical, run_logical<And>);

}  // namespace rt::kernels
