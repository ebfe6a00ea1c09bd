// aten::unfold_copy: windows of a dimension, the place in the window as the last dimension. Any
// type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kSize, kStep, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tiiio="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const int32_t size = args.integer(kSize);
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (size < 1 || size > input.size(along)) return args.refuse(kSize, Error::kArgumentValue);
  if (args.integer(kStep) < 1) return args.refuse(kStep, Error::kArgumentValue);
  bool fits = out.rank() == input.rank() + 1 && out.size(input.rank()) == size;
  for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
    const int32_t windows = (input.size(dim) - size) / args.integer(kStep) + 1;
    fits = out.size(dim) == (dim == along ? windows : input.size(dim));
  }
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    int32_t step = 0;
    if (dim == input.rank()) {
      step = in_strides.of[along];
    } else {
      step = in_strides.of[dim] * (dim == along ? args.integer(kStep) : 1);
    }
    walk.add(out.size(dim), {step, out_strides.of[dim]});
  }
  copy_elements(walk, input, 0, out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::unfold_copy.out", prepare, run);

}  // namespace rt::kernels
