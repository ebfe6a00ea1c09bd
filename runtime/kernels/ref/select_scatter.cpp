// aten::select_scatter: self with one index of a dimension replaced. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSource, kDim, kIndex, kOut };

int32_t index_of(const Args& args, int32_t size) {
  const int32_t index = args.integer(kIndex);
  return index < 0 ? index + size : index;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttiio="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& source = args.tensor(kSource);
  RT_TRY(expect_type(args, {kSource, kOut}, input.type()));
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  const int32_t index = index_of(args, input.size(along));
  if (index < 0 || index >= input.size(along)) return args.refuse(kIndex, Error::kArgumentValue);
  bool fits = source.rank() == input.rank() - 1;
  for (uint32_t dim = 0; fits && dim < source.rank(); ++dim) {
    fits = source.size(dim) == input.size(dim < along ? dim : dim + 1);
  }
  if (!fits) return args.refuse(kSource, Error::kArgumentShape);
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& source = args.tensor(kSource);
  Tensor& out = args.tensor(kOut);
  copy_layout(input, out);
  const uint32_t along = part_dim(args.integer(kDim), input.rank());
  const Strides from = source.strides();
  const Strides to = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : source.dim_order()) {
    walk.add(source.size(dim), {from.of[dim], to.of[dim < along ? dim : dim + 1U]});
  }
  copy_elements(walk, source, 0, out, index_of(args, input.size(along)) * to.of[along]);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::select_scatter.out", prepare, run);

}  // namespace rt::kernels
