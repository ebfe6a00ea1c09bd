// aten::flip: some dimensions backwards. Any type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDims, kOut };

// @return a bit for each dimension to flip; `bad` for a list that is no set of
// dimensions.
uint32_t flipped_dims(const Args &args, bool &bad) {
  const IntList dims = args.list(kDims);
  const uint32_t rank = args.tensor(kInput).rank();
  uint32_t flipped = 0;
  bad = false;
  for (uint32_t i = 0; i < dims.count(); ++i) {
    const auto dim =
        static_cast<uint32_t>(dims[i] < 0 ? dims[i] + static_cast<int32_t>(rank) : dims[i]);
    if (dim >= rank || (flipped >> dim & 1U) != 0) {
      bad = true;
      return 0;
    }
    flipped |= 1U << dim;
  }
  return flipped;
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tlo="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  bool bad = false;
  flipped_dims(args, bad);
  if (bad) return args.refuse(kDims, Error::kArgumentValue);
  return same_shape(args.tensor(kInput), args.tensor(kOut))
             ? Error::kOk
             : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  bool bad = false;
  const uint32_t flipped = flipped_dims(args, bad);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  int32_t begin = 0;
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    const bool backwards = (flipped >> dim & 1U) != 0;
    if (backwards) begin += (out.size(dim) - 1) * in_strides.of[dim];
    walk.add(out.size(dim),
             {backwards ? -in_strides.of[dim] : in_strides.of[dim], out_strides.of[dim]});
  }
  copy_elements(walk, input, begin, out, 0);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::flip.out", prepare, run);

}  // namespace rt::kernels
