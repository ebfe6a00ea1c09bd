// aten::slice_scatter: self with every step-th index of a dimension from start to end replaced. Any
// type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSource, kDim, kStart, kEnd, kStep, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttivvwo="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& source = args.tensor(kSource);
  RT_TRY(expect_type(args, {kSource, kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (args.integer(kStep) < 1) return args.refuse(kStep, Error::kArgumentValue);
  const int32_t size = input.size(along);
  const int64_t count = slice_count(slice_bound(args, kStart, 0, size),
                                    slice_bound(args, kEnd, size, size), args.integer(kStep));
  if (!same_but_for(input, source, along) || source.size(along) != count) {
    return args.refuse(kSource, Error::kArgumentShape);
  }
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  copy_layout(input, args.tensor(kOut));
  if (args.tensor(kSource).numel() == 0) return Error::kOk;
  const int32_t begin = slice_bound(args, kStart, 0, input.size(along));
  copy_into_part(args.tensor(kSource), args.tensor(kOut), {along, begin, args.integer(kStep)});
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::slice_scatter.out", prepare, run);

}  // namespace rt::kernels
