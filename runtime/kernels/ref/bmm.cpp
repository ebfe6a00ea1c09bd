// aten::bmm, float32: the products of two batches of matrices.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kA, kB, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_type(args, {kA, kB, kOut}, ScalarType::kFloat));
  for (const uint32_t i : {kA, kB, kOut}) RT_TRY(expect_rank(args, i, 3));
  const Tensor &a = args.tensor(kA);
  const Tensor &b = args.tensor(kB);
  const Tensor &out = args.tensor(kOut);
  if (b.size(0) != a.size(0) || a.size(2) != b.size(1)) {
    return args.refuse(kB, Error::kArgumentShape);
  }
  const bool fits =
      out.size(0) == a.size(0) && out.size(1) == a.size(1) && out.size(2) == b.size(2);
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &out = args.tensor(kOut);
  const int32_t depth = args.tensor(kA).size(2);
  const Strides a_strides = args.tensor(kA).strides();
  const Strides b_strides = args.tensor(kB).strides();
  const Strides out_strides = out.strides();
  Matrix a = {args.tensor(kA).as<float>(), a_strides.of[1], a_strides.of[2]};
  Matrix b = {args.tensor(kB).as<float>(), b_strides.of[1], b_strides.of[2]};
  float *result = args.tensor(kOut).as<float>();
  for (int32_t n = 0; n < out.size(0); ++n) {
    for (int32_t i = 0; i < out.size(1); ++i) {
      for (int32_t j = 0; j < out.size(2); ++j) {
        result[i * out_strides.of[1] + j * out_strides.of[2]] = dot(a, i, b, j, depth);
      }
    }
    a.data += a_strides.of[0];
    b.data += b_strides.of[0];
    result += out_strides.of[0];
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(bmm, "aten::bmm.out", prepare, run);

}  // namespace rt::kernels
