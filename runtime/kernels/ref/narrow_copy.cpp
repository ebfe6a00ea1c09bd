// aten::narrow_copy: `length` indices of a dimension from a start. Any type.

#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kStart, kLength, kOut };

int32_t start_of(const Args& args, int32_t size) {
  const int32_t start = args.integer(kStart);
  return start < 0 ? start + size : start;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tiiio="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  const int32_t size = input.size(along);
  const int32_t start = start_of(args, size);
  if (start < 0 || start > size) return args.refuse(kStart, Error::kArgumentValue);
  const int32_t length = args.integer(kLength);
  if (length < 0 || length > size - start) return args.refuse(kLength, Error::kArgumentValue);
  const bool fits = same_but_for(input, out, along) && out.size(along) == length;
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  copy_part(input, {along, start_of(args, input.size(along)), 1}, args.tensor(kOut));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::narrow_copy.out", prepare, run);

}  // namespace rt::kernels
