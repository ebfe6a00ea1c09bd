// aten::tril: the lower triangle of the last two dimensions, zeros above. Any type.

#include <cstring>

#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDiagonal, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tio="));
  const Tensor& input = args.tensor(kInput);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  if (input.rank() < 2) return args.refuse(kInput, Error::kArgumentShape);
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const int64_t diagonal = args.integer(kDiagonal);
  const uint32_t bytes = element_bytes(out.type());
  const uint32_t row = out.rank() - 2;
  Cursor from(input);
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, from.next(), to.next()) {
    std::byte* const element = out.data() + static_cast<uint32_t>(to.offset()) * bytes;
    if (to.index(row + 1) <= to.index(row) + diagonal) {
      std::memcpy(element, input.data() + static_cast<uint32_t>(from.offset()) * bytes, bytes);
    } else {
      std::memset(element, 0, bytes);
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::tril.out", prepare, run);

}  // namespace rt::kernels
