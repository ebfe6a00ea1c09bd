// aten::expand_copy: dimensions of size 1 repeated, new ones in front. Any
// type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kSizes, kImplicit, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tlbo="));
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  const IntList sizes = args.list(kSizes);
  if (sizes.count() != out.rank()) return args.refuse(kSizes, Error::kArgumentShape);
  for (uint32_t dim = 0; dim < out.rank(); ++dim) {
    if (sizes[dim] != -1 && sizes[dim] != out.size(dim)) {
      return args.refuse(kSizes, Error::kArgumentShape);
    }
  }
  return broadcasts_to(args.tensor(kInput), out) ? Error::kOk
                                                 : args.refuse(kInput, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim),
             {broadcast_stride(input, in_strides, dim, out.rank()), out_strides.of[dim]});
  }
  copy_elements(walk, input, 0, out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::expand_copy.out", prepare, run);

}  // namespace rt::kernels
