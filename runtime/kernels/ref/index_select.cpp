// aten::index_select: some indices of a dimension. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/indices.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kIndices, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tito="));
  const Tensor &input = args.tensor(kInput);
  const Tensor &indices = args.tensor(kIndices);
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  RT_TRY(expect_indices(args, indices, kIndices));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (indices.rank() > 1) return args.refuse(kIndices, Error::kArgumentShape);
  const bool fits =
      same_but_for(input, out, along) && static_cast<uint32_t>(out.size(along)) == indices.numel();
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
    if (dim != along) walk.add(out.size(dim), {in_strides.of[dim], out_strides.of[dim]});
  }
  for (int32_t i = 0; i < out.size(along); ++i) {
    int32_t index = 0;
    RT_TRY(read_index(args.tensor(kIndices), i, input.size(along), index));
    copy_elements(walk, input, index * in_strides.of[along], out, i * out_strides.of[along]);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::index_select.out", prepare, run);

}  // namespace rt::kernels
