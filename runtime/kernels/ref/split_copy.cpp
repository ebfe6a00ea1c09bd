// aten::split_copy and split_with_sizes_copy: parts along a dimension, a tensor
// each. Any type.

#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kDim, kOuts, kOutsAgain };

// The parts' sizes follow from the outs; the argument must say the same.
bool size_fits(const Args &args, uint32_t i, int32_t size, int32_t left) {
  if (!args.is_integer(kSizes)) {
    return args.list(kSizes).count() == args.tensors(kOuts).count() && args.list(kSizes)[i] == size;
  }
  const int32_t whole = args.integer(kSizes);
  return size == (whole < left ? whole : left);
}

Error prepare(Args &args, Needs &) {
  // Upstream's emitter gives the list of outs twice.
  RT_TRY(args.match(args.count() > 1 && args.is_integer(kSizes) ? "tiiO_" : "tliO_"));
  const Tensor &input = args.tensor(kInput);
  const TensorList outs = args.tensors(kOuts);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  int64_t begin = 0;
  for (uint32_t i = 0; i < outs.count(); ++i) {
    const Tensor &out = outs[i];
    if (out.type() != input.type()) return args.refuse(kOuts, Error::kArgumentScalarType);
    if (!same_but_for(out, input, along)) return args.refuse(kOuts, Error::kArgumentShape);
    if (begin > input.size(along)) return args.refuse(kOuts, Error::kArgumentShape);
    const int32_t left = input.size(along) - static_cast<int32_t>(begin);
    if (!size_fits(args, i, out.size(along), left)) {
      return args.refuse(kSizes, Error::kArgumentValue);
    }
    begin += out.size(along);
  }
  return begin == input.size(along) ? Error::kOk : args.refuse(kOuts, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  const TensorList outs = args.tensors(kOuts);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  int32_t begin = 0;
  for (uint32_t i = 0; i < outs.count(); ++i) {
    copy_part(input, {along, begin, 1}, outs[i]);
    begin += outs[i].size(along);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::split_copy.Tensor_out", prepare, run);
RT_KERNEL("aten::split_with_sizes_copy.out", prepare, run);

}  // namespace rt::kernels
