// aten::stack: tensors of one shape along a new dimension. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kTensors, kDim, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("Tio="));
  const TensorList tensors = args.tensors(kTensors);
  const Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), out.rank());
  if (along >= out.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (static_cast<uint32_t>(out.size(along)) != tensors.count()) {
    return args.refuse(kOut, Error::kArgumentShape);
  }
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    const Tensor &tensor = tensors[i];
    if (tensor.type() != out.type()) return args.refuse(kTensors, Error::kArgumentScalarType);
    bool fits = tensor.rank() + 1 == out.rank();
    for (uint32_t dim = 0; fits && dim < tensor.rank(); ++dim) {
      fits = tensor.size(dim) == out.size(dim < along ? dim : dim + 1);
    }
    if (!fits) return args.refuse(kTensors, Error::kArgumentShape);
  }
  return Error::kOk;
}

Error run(const Args &args, std::span<std::byte>) {
  const TensorList tensors = args.tensors(kTensors);
  Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), out.rank());
  const Strides out_strides = out.strides();
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    const Strides strides = tensors[i].strides();
    Walk<2> walk;
    for (const uint8_t dim : tensors[i].dim_order()) {
      walk.add(tensors[i].size(dim),
               {strides.of[dim], out_strides.of[dim < along ? dim : dim + 1]});
    }
    copy_elements(walk, tensors[i], 0, out, static_cast<int32_t>(i) * out_strides.of[along]);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::stack.out", prepare, run);

}  // namespace rt::kernels
