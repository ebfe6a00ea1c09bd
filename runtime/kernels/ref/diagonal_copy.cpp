// aten::diagonal_copy: the diagonal of two dimensions, as the last one. Any type.

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/parts.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kOffset, kDim1, kDim2, kOut };

int64_t diagonal_length(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t a = offset < 0 ? rows + offset : rows;
  const int64_t b = offset > 0 ? columns - offset : columns;
  const int64_t length = a < b ? a : b;
  return length < 0 ? 0 : length;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tiiio="));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const uint32_t rows = part_dim(args.integer(kDim1), input.rank());
  const uint32_t columns = part_dim(args.integer(kDim2), input.rank());
  if (rows >= input.rank()) return args.refuse(kDim1, Error::kArgumentValue);
  if (columns >= input.rank() || columns == rows) {
    return args.refuse(kDim2, Error::kArgumentValue);
  }
  bool fits = out.rank() == input.rank() - 1;
  uint32_t to = 0;
  for (uint32_t dim = 0; fits && dim < input.rank(); ++dim) {
    if (dim != rows && dim != columns) fits = out.size(to++) == input.size(dim);
  }
  const int64_t length =
      diagonal_length(input.size(rows), input.size(columns), args.integer(kOffset));
  fits = fits && out.size(to) == length;
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const uint32_t rows = part_dim(args.integer(kDim1), input.rank());
  const uint32_t columns = part_dim(args.integer(kDim2), input.rank());
  const int32_t offset = args.integer(kOffset);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  int32_t steps[kMaxRank] = {};
  uint32_t to = 0;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    if (dim != rows && dim != columns) steps[to++] = in_strides.of[dim];
  }
  steps[to] = in_strides.of[rows] + in_strides.of[columns];
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {steps[dim], out_strides.of[dim]});
  }
  const int32_t begin =
      offset < 0 ? -offset * in_strides.of[rows] : offset * in_strides.of[columns];
  copy_elements(walk, input, begin, out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::diagonal_copy.out", prepare, run);

}  // namespace rt::kernels
