// aten::_pdist_forward, float32: distances of each row of a matrix to those behind it.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/distance.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kNorm, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tso="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  RT_TRY(expect_rank(args, kInput, 2));
  if (!(args.number(kNorm) >= 0.0)) return args.refuse(kNorm, Error::kArgumentValue);
  const int64_t rows = args.tensor(kInput).size(0);
  RT_TRY(expect_rank(args, kOut, 1));
  return args.tensor(kOut).size(0) == rows * (rows - 1) / 2
             ? Error::kOk
             : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const Strides strides = input.strides();
  const auto p = static_cast<float>(args.number(kNorm));
  float* out = args.tensor(kOut).as<float>();
  for (int32_t i = 0; i < input.size(0); ++i) {
    for (int32_t j = i + 1; j < input.size(0); ++j) {
      *out++ = row_distance(input.as<float>() + i * strides.of[0], strides.of[1],
                            input.as<float>() + j * strides.of[0], strides.of[1], input.size(1), p);
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_pdist_forward.out", prepare, run);

}  // namespace rt::kernels
