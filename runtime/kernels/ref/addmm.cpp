// aten::addmm, float32: beta * self + alpha * (a @ b), self broadcast to the product's shape.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kA, kB, kBeta, kAlpha, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tttsso="));
  RT_TRY(expect_type(args, {kSelf, kA, kB, kOut}, ScalarType::kFloat));
  for (const uint32_t i : {kA, kB, kOut}) RT_TRY(expect_rank(args, i, 2));
  const Tensor& a = args.tensor(kA);
  const Tensor& b = args.tensor(kB);
  const Tensor& out = args.tensor(kOut);
  if (a.size(1) != b.size(0)) return args.refuse(kB, Error::kArgumentShape);
  if (out.size(0) != a.size(0) || out.size(1) != b.size(1)) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  return broadcasts_to(args.tensor(kSelf), out) ? Error::kOk
                                                : args.refuse(kSelf, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& self = args.tensor(kSelf);
  const Tensor& out = args.tensor(kOut);
  const int32_t depth = args.tensor(kA).size(1);
  const auto beta = static_cast<float>(args.number(kBeta));
  const auto alpha = static_cast<float>(args.number(kAlpha));
  const Strides a_strides = args.tensor(kA).strides();
  const Strides b_strides = args.tensor(kB).strides();
  const Strides self_strides = self.strides();
  const Strides out_strides = out.strides();
  const Matrix a = {args.tensor(kA).as<float>(), a_strides.of[0], a_strides.of[1]};
  const Matrix b = {args.tensor(kB).as<float>(), b_strides.of[0], b_strides.of[1]};
  const int32_t self_row = broadcast_stride(self, self_strides, 0, 2);
  const int32_t self_column = broadcast_stride(self, self_strides, 1, 2);
  float* result = args.tensor(kOut).as<float>();
  for (int32_t i = 0; i < out.size(0); ++i) {
    for (int32_t j = 0; j < out.size(1); ++j) {
      const float product = alpha * dot(a, i, b, j, depth);
      // With beta 0 torch ignores self, NaN and all.
      const float addend =
          beta == 0.0F ? 0.0F : beta * self.as<float>()[i * self_row + j * self_column];
      result[i * out_strides.of[0] + j * out_strides.of[1]] = addend + product;
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(addmm, "aten::addmm.out", prepare, run);

}  // namespace rt::kernels
