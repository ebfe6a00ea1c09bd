// aten::unbind_copy: each index of a dimension, a tensor each. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kOuts, kOutsAgain };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tiO_"));
  const Tensor &input = args.tensor(kInput);
  const TensorList outs = args.tensors(kOuts);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (outs.count() != static_cast<uint32_t>(input.size(along))) {
    return args.refuse(kOuts, Error::kArgumentShape);
  }
  for (uint32_t i = 0; i < outs.count(); ++i) {
    if (outs[i].type() != input.type()) return args.refuse(kOuts, Error::kArgumentScalarType);
    bool fits = outs[i].rank() + 1 == input.rank();
    for (uint32_t dim = 0; fits && dim < outs[i].rank(); ++dim) {
      fits = outs[i].size(dim) == input.size(dim < along ? dim : dim + 1);
    }
    if (!fits) return args.refuse(kOuts, Error::kArgumentShape);
  }
  return Error::kOk;
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const TensorList outs = args.tensors(kOuts);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const Strides in_strides = input.strides();
  for (uint32_t i = 0; i < outs.count(); ++i) {
    const Strides out_strides = outs[i].strides();
    Walk<2> walk;
    for (const uint8_t dim : outs[i].dim_order()) {
      walk.add(outs[i].size(dim),
               {in_strides.of[dim < along ? dim : dim + 1], out_strides.of[dim]});
    }
    copy_elements(walk, input, static_cast<int32_t>(i) * in_strides.of[along], outs[i], 0);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::unbind_copy.int_out", prepare, run);

}  // namespace rt::kernels
