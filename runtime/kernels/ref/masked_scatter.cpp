// aten::masked_scatter: where the mask holds the next element of the source, else self, broadcast.
// Any type.

#include <cstring>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kSelf, kMask, kSource, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttto="));
  RT_TRY(expect_type(args, {kSource, kOut}, args.tensor(kSelf).type()));
  RT_TRY(expect_type(args, {kMask}, ScalarType::kBool));
  return expect_broadcast(args, {kSelf, kMask}, kOut);
}

int32_t broadcast_offset(const Tensor& operand, const Strides& strides, const Cursor& at,
                         uint32_t rank) {
  int32_t offset = 0;
  for (uint32_t dim = 0; dim < rank; ++dim) {
    offset += at.index(dim) * broadcast_stride(operand, strides, dim, rank);
  }
  return offset;
}

// @return index-out-of-range if the mask holds more often than the source has elements.
Error run(const Args& args, std::span<std::byte>) {
  const Tensor& self = args.tensor(kSelf);
  const Tensor& mask = args.tensor(kMask);
  const Tensor& source = args.tensor(kSource);
  Tensor& out = args.tensor(kOut);
  const Strides self_strides = self.strides();
  const Strides mask_strides = mask.strides();
  const uint32_t bytes = element_bytes(out.type());
  uint32_t taken = 0;
  Cursor from(source);
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, to.next()) {
    std::byte* const element = out.data() + static_cast<uint32_t>(to.offset()) * bytes;
    if (mask.as<uint8_t>()[broadcast_offset(mask, mask_strides, to, out.rank())] != 0) {
      if (taken++ == source.numel()) return Error::kIndexOutOfRange;
      std::memcpy(element, source.data() + static_cast<uint32_t>(from.offset()) * bytes, bytes);
      from.next();
    } else {
      const int32_t offset = broadcast_offset(self, self_strides, to, out.rank());
      std::memcpy(element, self.data() + static_cast<uint32_t>(offset) * bytes, bytes);
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::masked_scatter.out", prepare, run);

}  // namespace rt::kernels
