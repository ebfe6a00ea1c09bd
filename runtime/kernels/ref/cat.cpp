// aten::cat: tensors one after the other along a dimension. Any type.

#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kTensors, kDim, kOut };

// torch leaves out tensors of shape [0], whatever the others' rank is.
bool counts(const Tensor &tensor) { return tensor.rank() != 1 || tensor.size(0) != 0; }

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("Tio="));
  const TensorList tensors = args.tensors(kTensors);
  const Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), out.rank());
  if (along >= out.rank()) return args.refuse(kDim, Error::kArgumentValue);
  int64_t size = 0;
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    if (tensors[i].type() != out.type()) return args.refuse(kTensors, Error::kArgumentScalarType);
    if (!counts(tensors[i])) continue;
    if (!same_but_for(tensors[i], out, along)) return args.refuse(kTensors, Error::kArgumentShape);
    size += tensors[i].size(along);
  }
  return size == out.size(along) ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const TensorList tensors = args.tensors(kTensors);
  Tensor &out = args.tensor(kOut);
  const uint32_t along = part_dim(args.integer(kDim), out.rank());
  int32_t begin = 0;
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    if (!counts(tensors[i])) continue;
    copy_into_part(tensors[i], out, {along, begin, 1});
    begin += tensors[i].size(along);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::cat.out", prepare, run);

}  // namespace rt::kernels
