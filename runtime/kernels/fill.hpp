// Tensors of one number.
#pragma once

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {

// @return the number as a tensor of that type holds it, once check_fill accepted it. Any number but
// 0 is true; what an integer type is too narrow for wraps.
template <typename T>
T fill_value(const Args& args, uint32_t number, ScalarType type) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(args.number(number));
  } else {
    if (type == ScalarType::kBool) return args.number(number) != 0.0 ? T{1} : T{};
    const bool is_double = args.is_double(number);
    return static_cast<T>(is_double ? static_cast<int32_t>(args.number(number))
                                    : args.integer(number));
  }
}

// Writes a number, which the tensor's type holds, to every element.
inline void fill(Tensor& out, const Args& args, uint32_t number) {
  for_type(out.type(), [&]<typename T>(T) {
    const T value = fill_value<T>(args, number, out.type());
    for (uint32_t i = 0; i < out.numel(); ++i) out.as<T>()[i] = value;
  });
}

inline Error check_fill(Args& args, uint32_t number, uint32_t out) {
  RT_TRY(expect_known(args, out));
  const ScalarType type = args.tensor(out).type();
  if (type == ScalarType::kBool || type == ScalarType::kFloat || !args.is_double(number)) {
    return Error::kOk;
  }
  // torch takes 0.0 for an integer.
  const double value = args.number(number);
  const bool whole = value >= -2147483648.0 && value <= 2147483647.0 &&
                     value == static_cast<double>(static_cast<int32_t>(value));
  return whole ? Error::kOk : args.refuse(number, Error::kArgumentValue);
}

// A list of sizes says what the out tensor's shape does.
inline Error expect_sizes(Args& args, uint32_t sizes, uint32_t out) {
  const IntList list = args.list(sizes);
  const Tensor& tensor = args.tensor(out);
  bool fits = list.count() == tensor.rank();
  for (uint32_t dim = 0; fits && dim < tensor.rank(); ++dim) fits = list[dim] == tensor.size(dim);
  return fits ? Error::kOk : args.refuse(sizes, Error::kArgumentShape);
}

}  // namespace rt::kernels
