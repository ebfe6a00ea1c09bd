// aten::repeat: the tensor so often along each dimension. Any type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kRepeats, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tlo="));
  const Tensor &input = args.tensor(kInput);
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const IntList repeats = args.list(kRepeats);
  if (repeats.count() != out.rank() || out.rank() < input.rank()) {
    return args.refuse(kRepeats, Error::kArgumentShape);
  }
  const uint32_t added = out.rank() - input.rank();
  for (uint32_t dim = 0; dim < out.rank(); ++dim) {
    const int64_t size = dim < added ? 1 : input.size(dim - added);
    if (repeats[dim] < 0 || size * repeats[dim] != out.size(dim)) {
      return args.refuse(kOut, Error::kArgumentShape);
    }
  }
  return Error::kOk;
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const IntList repeats = args.list(kRepeats);
  const uint32_t added = out.rank() - input.rank();
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  // For each copy, the input: the first walk's offsets are where the copies
  // begin.
  Walk<1> copies;
  Walk<2> whole;
  for (const uint8_t dim : out.dim_order()) {
    const int32_t size = dim < added ? 1 : input.size(dim - added);
    copies.add(repeats[dim], {out_strides.of[dim] * size});
    if (dim >= added) whole.add(size, {in_strides.of[dim - added], out_strides.of[dim]});
  }
  copies.rows([&](int32_t count, const int32_t(&offset)[1], const int32_t(&stride)[1]) {
    for (int32_t i = 0; i < count; ++i) {
      copy_elements(whole, input, 0, out, offset[0] + i * stride[0]);
    }
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::repeat.out", prepare, run);

}  // namespace rt::kernels
