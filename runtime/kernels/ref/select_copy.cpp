// aten::select_copy: one index of a dimension, which disappears. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kIndex, kOut };

int32_t index_of(const Args &args, int32_t size) {
  const int32_t index = args.integer(kIndex);
  return index < 0 ? index + size : index;
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tiio="));
  const Tensor &input = args.tensor(kInput);
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  const int32_t index = index_of(args, input.size(along));
  if (index < 0 || index >= input.size(along)) return args.refuse(kIndex, Error::kArgumentValue);
  bool fits = out.rank() + 1 == input.rank();
  for (uint32_t dim = 0; fits && dim < out.rank(); ++dim) {
    fits = out.size(dim) == input.size(dim < along ? dim : dim + 1);
  }
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {in_strides.of[dim < along ? dim : dim + 1], out_strides.of[dim]});
  }
  copy_elements(walk, input, index_of(args, input.size(along)) * in_strides.of[along], out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::select_copy.int_out", prepare, run);

}  // namespace rt::kernels
