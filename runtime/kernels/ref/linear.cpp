// aten::linear, float32: input @ weight^T + bias, over the input's last dimension.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/float_matmul.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kWeight, kBias, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttno="));
  RT_TRY(expect_type(args, {kInput, kWeight, kBias, kOut}, ScalarType::kFloat));
  RT_TRY(expect_rank(args, kWeight, 2));
  RT_TRY(expect_contiguous(args, {kInput, kWeight, kOut}));
  const Tensor& input = args.tensor(kInput);
  const Tensor& weight = args.tensor(kWeight);
  const Tensor& out = args.tensor(kOut);
  const uint32_t rank = input.rank();
  if (rank == 0 || input.size(rank - 1) != weight.size(1)) {
    return args.refuse(kInput, Error::kArgumentShape);
  }
  bool same = out.rank() == rank;
  for (uint32_t dim = 0; same && dim + 1 < rank; ++dim) same = out.size(dim) == input.size(dim);
  if (!same || out.size(rank - 1) != weight.size(0)) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  const Tensor* bias = args.optional_tensor(kBias);
  const bool fits = bias == nullptr || bias->numel() == static_cast<uint32_t>(weight.size(0));
  return fits ? Error::kOk : args.refuse(kBias, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& out = args.tensor(kOut);
  const int32_t depth = args.tensor(kWeight).size(1);
  const int32_t outputs = args.tensor(kWeight).size(0);
  const Tensor* bias = args.optional_tensor(kBias);
  const Matrix a = {args.tensor(kInput).as<float>(), depth, 1};
  const Matrix b = {args.tensor(kWeight).as<float>(), 1, depth};
  const auto rows = static_cast<int32_t>(out.numel()) / outputs;
  float* result = args.tensor(kOut).as<float>();
  for (int32_t i = 0; i < rows; ++i) {
    for (int32_t j = 0; j < outputs; ++j) {
      *result++ = dot(a, i, b, j, depth) + (bias == nullptr ? 0.0F : bias->as<float>()[j]);
    }
  }
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(linear, "aten::linear.out", prepare, run);

}  // namespace rt::kernels
