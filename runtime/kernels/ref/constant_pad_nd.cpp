// aten::constant_pad_nd: a constant around the tensor; amounts are not negative.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/fill.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kPad, kValue, kOut };

// The list has pairs (before, after), the last dimension first.
// @return the amount before (`after` 0) or after (1) a dimension.
int32_t amount(const IntList& pad, uint32_t rank, uint32_t dim, uint32_t after) {
  const uint32_t entry = 2 * (rank - 1 - dim) + after;
  return entry < pad.count() ? pad[entry] : 0;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tlso="));
  RT_TRY(expect_type(args, {kInput}, args.tensor(kOut).type()));
  RT_TRY(check_fill(args, kValue, kOut));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  const IntList pad = args.list(kPad);
  const uint32_t rank = input.rank();
  if (pad.count() % 2 != 0 || pad.count() > 2 * rank)
    return args.refuse(kPad, Error::kArgumentValue);
  for (uint32_t i = 0; i < pad.count(); ++i) {
    if (pad[i] < 0) return args.refuse(kPad, Error::kArgumentValue);
  }
  if (out.rank() != rank) return args.refuse(kOut, Error::kArgumentShape);
  for (uint32_t dim = 0; dim < rank; ++dim) {
    const int64_t size =
        int64_t{input.size(dim)} + amount(pad, rank, dim, 0) + amount(pad, rank, dim, 1);
    if (size != out.size(dim)) return args.refuse(kOut, Error::kArgumentShape);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const IntList pad = args.list(kPad);
  fill(out, args, kValue);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  int32_t begin = 0;
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(input.size(dim), {in_strides.of[dim], out_strides.of[dim]});
    begin += amount(pad, out.rank(), dim, 0) * out_strides.of[dim];
  }
  copy_elements(walk, input, 0, out, begin);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::constant_pad_nd.out", prepare, run);

}  // namespace rt::kernels
