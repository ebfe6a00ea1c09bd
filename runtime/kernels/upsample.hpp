// What the upsampling kernels share: the output's size and the source
// positions, as torch has them.
#pragma once

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_pool.hpp"

namespace rt::kernels {

// Sizes and factors are arguments, one of them None.
inline Error check_upsample(Args &args, uint32_t sizes, uint32_t factors, uint32_t out_index) {
  RT_TRY(expect_type(args, {0, out_index}, ScalarType::kFloat));
  RT_TRY(expect_rank(args, 0, 4));
  RT_TRY(expect_rank(args, out_index, 4));
  const Tensor &input = args.tensor(0);
  const Tensor &out = args.tensor(out_index);
  if (input.numel() == 0) return args.refuse(0, Error::kArgumentShape);
  if (args.is_none(sizes) == args.is_none(factors)) return args.refuse(sizes, Error::kArgumentKind);
  bool fits = out.size(0) == input.size(0) && out.size(1) == input.size(1);
  for (uint32_t i = 0; i < 2; ++i) {
    const int32_t size = out.size(2 + i);
    if (!args.is_none(sizes)) {
      if (args.list(sizes).count() != 2) return args.refuse(sizes, Error::kArgumentValue);
      fits = fits && args.list(sizes)[i] == size;
    } else {
      if (args.doubles(factors).count() != 2) return args.refuse(factors, Error::kArgumentValue);
      const double factor = args.doubles(factors)[i];
      if (!(factor > 0.0)) return args.refuse(factors, Error::kArgumentValue);
      const double exact = static_cast<double>(input.size(2 + i)) * factor;
      fits = fits && exact >= size && exact < static_cast<double>(size) + 1.0;
    }
  }
  return fits ? Error::kOk : args.refuse(out_index, Error::kArgumentShape);
}

// @return input positions an output step, of dimension 2 + i: by the factor
// where it is given.
inline float input_step(const Args &args, uint32_t factors, const Tensor &out, uint32_t i) {
  if (!args.is_none(factors)) return static_cast<float>(1.0 / args.doubles(factors)[i]);
  return static_cast<float>(args.tensor(0).size(2 + i)) / static_cast<float>(out.size(2 + i));
}

}  // namespace rt::kernels
