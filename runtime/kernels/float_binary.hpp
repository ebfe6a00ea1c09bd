// Elementwise float kernels of two operands, broadcast.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {

// Operands are arguments 0 and 1.
inline Error check_float_binary(Args& args, uint32_t out) {
  RT_TRY(expect_type(args, {0, 1, out}, ScalarType::kFloat));
  for (const uint32_t i : {0U, 1U}) {
    if (!broadcasts_to(args.tensor(i), args.tensor(out))) {
      return args.refuse(i, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

}  // namespace rt::kernels
