// aten::slice_copy: every step-th index of a dimension from start to end. Any
// type.

#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kStart, kEnd, kStep, kOut };

Part part_of(const Args &args, uint32_t along) {
  const int32_t size = args.tensor(kInput).size(along);
  return {along, slice_bound(args, kStart, 0, size), args.integer(kStep)};
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tivvwo="));
  const Tensor &input = args.tensor(kInput);
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (args.integer(kStep) < 1) return args.refuse(kStep, Error::kArgumentValue);
  const Part part = part_of(args, along);
  const int32_t end = slice_bound(args, kEnd, input.size(along), input.size(along));
  const bool fits =
      same_but_for(input, out, along) && out.size(along) == slice_count(part.begin, end, part.step);
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  copy_part(input, part_of(args, part_dim(args.integer(kDim), input.rank())), args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::slice_copy.Tensor_out", prepare, run);

}  // namespace rt::kernels
