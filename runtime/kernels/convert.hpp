// Copies that change the element type.
#pragma once

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {

// @return a number in another type; what an integer cannot hold is cut off, a
// NaN is 0. What does
//     not fit is bounded (torch leaves it to the machine).
template <typename Out, typename In>
Out convert(In value) {
  if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
    // Through int64, as the narrow types wrap; the bounds are the nearest
    // floats inside it.
    constexpr float kBound = 9.2233715e18F;
    const float bounded = value > kBound ? kBound : (value < -kBound ? -kBound : value);
    return value != value ? Out{} : static_cast<Out>(static_cast<int64_t>(bounded));
  } else {
    return static_cast<Out>(value);
  }
}

inline Error check_convert(Args &args, uint32_t input, uint32_t out) {
  RT_TRY(expect_same_shape(args, input, out));
  if (args.tensor(input).type() == args.tensor(out).type()) return Error::kOk;
  RT_TRY(expect_known(args, input));
  return expect_known(args, out);
}

template <typename In>
void convert_from(const Tensor &input, Tensor &out) {
  if (out.type() == ScalarType::kBool) {
    map<In, bool>(input, out, [](In x) { return x != In{}; });
    return;
  }
  for_type(out.type(), [&]<typename Out>(Out) {
    map<In, Out>(input, out, [](In x) { return convert<Out>(x); });
  });
}

// Types differ and are known.
inline void convert(const Tensor &input, Tensor &out) {
  for_type(input.type(), [&]<typename In>(In) { convert_from<In>(input, out); });
}

}  // namespace rt::kernels
