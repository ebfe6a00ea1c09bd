// aten::logical_or, broadcast; the result is bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct Or {
  bool operator()(bool a, bool b) const { return a || b; }
};

}  // namespace

RT_KERNEL("aten::logical_or.out", prepare_logical, run_logical<Or>);

}  // namespace rt::kernels
