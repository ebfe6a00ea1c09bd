// aten::mm, float32: the product of two matrices.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kA, kB, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tto="));
  RT_TRY(expect_type(args, {kA, kB, kOut}, ScalarType::kFloat));
  for (const uint32_t i : {kA, kB, kOut}) RT_TRY(expect_rank(args, i, 2));
  const Tensor& a = args.tensor(kA);
  const Tensor& b = args.tensor(kB);
  const Tensor& out = args.tensor(kOut);
  if (a.size(1) != b.size(0)) return args.refuse(kB, Error::kArgumentShape);
  const bool fits = out.size(0) == a.size(0) && out.size(1) == b.size(1);
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& out = args.tensor(kOut);
  const int32_t depth = args.tensor(kA).size(1);
  const Strides a_strides = args.tensor(kA).strides();
  const Strides b_strides = args.tensor(kB).strides();
  const Strides out_strides = out.strides();
  const Matrix a = {args.tensor(kA).as<float>(), a_strides.of[0], a_strides.of[1]};
  const Matrix b = {args.tensor(kB).as<float>(), b_strides.of[0], b_strides.of[1]};
  float* result = args.tensor(kOut).as<float>();
  for (int32_t i = 0; i < out.size(0); ++i) {
    for (int32_t j = 0; j < out.size(1); ++j) {
      result[i * out_strides.of[0] + j * out_strides.of[1]] = dot(a, i, b, j, depth);
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(mm, "aten::mm.out", prepare, run);

}  // namespace rt::kernels
