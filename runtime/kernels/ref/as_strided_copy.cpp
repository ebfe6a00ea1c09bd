// aten::as_strided_copy: a view of the input's memory, given by sizes and strides, copied. Any
// type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kStrides, kOffset, kOut };

int32_t storage_offset(const Args& args) {
  return args.is_none(kOffset) ? 0 : args.integer(kOffset);
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tlljo="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const IntList sizes = args.list(kSizes);
  const IntList strides = args.list(kStrides);
  if (sizes.count() != out.rank()) return args.refuse(kSizes, Error::kArgumentShape);
  if (strides.count() != out.rank()) return args.refuse(kStrides, Error::kArgumentShape);
  int64_t last = storage_offset(args);
  if (last < 0) return args.refuse(kOffset, Error::kArgumentValue);
  for (uint32_t dim = 0; dim < out.rank(); ++dim) {
    if (sizes[dim] != out.size(dim)) return args.refuse(kSizes, Error::kArgumentShape);
    if (strides[dim] < 0) return args.refuse(kStrides, Error::kArgumentValue);
    // At most eight products of 31-bit numbers.
    if (sizes[dim] > 1) last += int64_t{sizes[dim] - 1} * strides[dim];
    if (last >= int64_t{input.numel()}) break;
  }
  const bool inside = out.numel() == 0 || last < int64_t{input.numel()};
  return inside ? Error::kOk : args.refuse(kStrides, Error::kArgumentValue);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const IntList strides = args.list(kStrides);
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {strides[dim], out_strides.of[dim]});
  }
  copy_elements(walk, input, storage_offset(args), out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::as_strided_copy.out", prepare, run);

}  // namespace rt::kernels
