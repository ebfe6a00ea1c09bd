// aten::glu, float32: the first half along a dimension times the sigmoid of the
// second.

#include <cmath>

#include "runtime/kernels/lines.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tio="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  RT_TRY(expect_dim(args, kInput, kDim));
  const Tensor &input = args.tensor(kInput);
  const Tensor &out = args.tensor(kOut);
  const uint32_t along = get_dim(args, kInput, kDim);
  bool fits = input.rank() > 0 && out.rank() == input.rank();
  for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
    fits = int64_t{out.size(dim)} * (dim == along ? 2 : 1) == input.size(dim);
  }
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const uint32_t along = get_dim(args, kInput, kDim);
  const int32_t half = out.size(along) * input.strides().of[along];
  const int32_t count = out.size(along);
  for_each_line<float>(input, out, along,
                       [=](const float *in, int32_t in_step, float *y, int32_t y_step) {
                         for (int32_t i = 0; i < count; ++i) {
                           const float gate = in[half + i * in_step];
                           y[i * y_step] = in[i * in_step] / (1.0F + std::exp(-gate));
                         }
                       });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::glu.out", prepare, run);

}  // namespace rt::kernels
