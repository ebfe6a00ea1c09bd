// aten::logical_xor, broadcast; the result is bool.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

struct Xor {
  bool operator()(bool a, bool b) const { return a != b; }
};

}  // namespace

RT_KERNEL("aten::logical_xor.out", prepare_logical, run_logical<Xor>);

}  // namespace rt::kernels
