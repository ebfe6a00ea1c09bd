// cortex_m::pad: a constant around an int8 tensor of up to four dimensions.
//
// The lists have four entries, for the dimensions as they lie in memory: NHWC if the exporter took
// the tensor for channels-last, else the logical ones, right-aligned (passes_utils.py,
// is_channels_last and to_physical_order).

#include <cstring>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kBefore, kAfter, kValue, kOut };

// The exporter's own test, which looks at dim order and shape, not at strides.
bool is_channels_last_to_exporter(const Tensor& tensor) {
  if (tensor.rank() != 4) return false;
  if (tensor.size(1) == 1 || (tensor.size(2) == 1 && tensor.size(3) == 1)) return true;
  return tensor.dim_order()[0] == 0 && tensor.dim_order()[1] == 2;
}

// @return position in the lists of a logical dimension.
uint32_t entry_of(const Tensor& input, uint32_t dim) {
  static constexpr uint8_t kNhwc[] = {0, 3, 1, 2};
  return is_channels_last_to_exporter(input) ? kNhwc[dim] : dim + 4 - input.rank();
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tllio="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kChar));
  RT_TRY(expect_range(args, kValue, -128, 127));
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  if (input.rank() > 4) return args.refuse(kInput, Error::kArgumentShape);
  if (out.rank() != input.rank()) return args.refuse(kOut, Error::kArgumentShape);
  for (const uint32_t i : {kBefore, kAfter}) {
    const IntList list = args.list(i);
    if (list.count() != 4) return args.refuse(i, Error::kArgumentValue);
    for (uint32_t k = 0; k < 4; ++k) {
      if (list[k] < 0) return args.refuse(i, Error::kArgumentValue);
    }
  }
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    const uint32_t entry = entry_of(input, dim);
    const int64_t size =
        int64_t{input.size(dim)} + args.list(kBefore)[entry] + args.list(kAfter)[entry];
    if (size != out.size(dim)) return args.refuse(kOut, Error::kArgumentShape);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const IntList before = args.list(kBefore);
  std::memset(out.data(), args.integer(kValue), out.nbytes());
  const Strides input_strides = input.strides();
  const Strides out_strides = out.strides();
  int32_t begin = 0;
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(input.size(dim), {input_strides.of[dim], out_strides.of[dim]});
    begin += before[entry_of(input, dim)] * out_strides.of[dim];
  }
  copy_elements(walk, input, 0, out, begin);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::pad.out", prepare, run);

}  // namespace rt::kernels
