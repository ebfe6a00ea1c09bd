// aten::slice_copy: every step-th index of a dimension from start to end. Any
// type.

#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kStart, kEnd, kStep, kOut };

// @return index `i` (negative ones from the end, None: `fallback`) brought into
// [0, size].
int32_t bounded(const Args &args, uint32_t i, int32_t fallback, int32_t size) {
  if (args.is_none(i)) return fallback;
  const int64_t index = args.integer(i);
  const int64_t from_start = index < 0 ? index + size : index;
  if (from_start < 0) return 0;
  return from_start > size ? size : static_cast<int32_t>(from_start);
}

Part part_of(const Args &args, uint32_t along) {
  const int32_t size = args.tensor(kInput).size(along);
  return {along, bounded(args, kStart, 0, size), args.integer(kStep)};
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
  const int32_t end = bounded(args, kEnd, input.size(along), input.size(along));
  const int64_t span = end > part.begin ? int64_t{end} - part.begin : 0;
  const int64_t size = (span + part.step - 1) / part.step;
  const bool fits = same_but_for(input, out, along) && out.size(along) == size;
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
