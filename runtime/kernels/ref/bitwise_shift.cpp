// aten::bitwise_left_shift and bitwise_right_shift, broadcast, or by a number, of integers;
// Python's << and >> are exported as __lshift__ and __rshift__.
//
// As torch has it: shifting by more than the width, or by a negative number, leaves 0, or the sign
// to the right.

#include "runtime/kernels/logical.hpp"

namespace rt::kernels {
namespace {

template <typename T>
constexpr T kBits = static_cast<T>(sizeof(T) * 8);

struct Left {
  template <typename T>
  T operator()(T a, T b) const {
    if (b < 0 || b >= kBits<T>) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
  }
};

struct Right {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_unsigned_v<T>) {
      return b >= kBits<T> ? T{} : static_cast<T>(a >> b);
    } else {
      const bool all = b < 0 || b >= kBits<T> - 1;
      return static_cast<T>(a >> (all ? kBits<T> - 1 : b));
    }
  }
};

Error refuse_bool(Args& args, uint32_t out) {
  return args.tensor(out).type() == ScalarType::kBool ? args.refuse(out, Error::kArgumentScalarType)
                                                      : Error::kOk;
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(prepare_bitwise(args, needs));
  return refuse_bool(args, 2);
}

Error prepare_number(Args& args, Needs& needs) {
  RT_TRY(prepare_bitwise_scalar(args, needs));
  return refuse_bool(args, 2);
}

}  // namespace

RT_KERNEL("aten::bitwise_left_shift.Tensor_out", prepare, run_bitwise<Left>);
RT_KERNEL("aten::bitwise_left_shift.Tensor_Scalar_out", prepare_number, run_bitwise_scalar<Left>);
RT_KERNEL("aten::__lshift__.Tensor_out", prepare, run_bitwise<Left>);
RT_KERNEL("aten::__lshift__.Scalar_out", prepare_number, run_bitwise_scalar<Left>);
RT_KERNEL("aten::__rshift__.Tensor_out", prepare, run_bitwise<Right>);
RT_KERNEL("aten::__rshift__.Scalar_out", prepare_number, run_bitwise_scalar<Right>);
RT_KERNEL("aten::bitwise_right_shift.Tensor_out", prepare, run_bitwise<Right>);
RT_KERNEL("aten::bitwise_right_shift.Tensor_Scalar_out", prepare_number, run_bitwise_scalar<Right>);

}  // namespace rt::kernels
