// aten::embedding: rows of a table by index. Any type of table; indices int64
// or int32.

#include <cstring>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kTable, kIndices, kPaddingIndex, kScaleByFrequency, kSparse, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("ttwbbo="));
  const Tensor &table = args.tensor(kTable);
  const Tensor &indices = args.tensor(kIndices);
  const Tensor &out = args.tensor(kOut);
  RT_TRY(expect_type(args, {kOut}, table.type()));
  if (indices.type() != ScalarType::kLong && indices.type() != ScalarType::kInt) {
    return args.refuse(kIndices, Error::kArgumentScalarType);
  }
  RT_TRY(expect_rank(args, kTable, 2));
  RT_TRY(expect_contiguous(args, {kTable, kIndices, kOut}));
  bool fits = out.rank() == indices.rank() + 1 && out.size(indices.rank()) == table.size(1);
  for (uint32_t dim = 0; fits && dim < indices.rank(); ++dim) {
    fits = out.size(dim) == indices.size(dim);
  }
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args &args, std::span<std::byte>) {
  const Tensor &table = args.tensor(kTable);
  const Tensor &indices = args.tensor(kIndices);
  std::byte *out = args.tensor(kOut).data();
  const uint32_t row_bytes = static_cast<uint32_t>(table.size(1)) * element_bytes(table.type());
  for (uint32_t i = 0; i < indices.numel(); ++i, out += row_bytes) {
    const int64_t index =
        indices.type() == ScalarType::kLong ? indices.as<int64_t>()[i] : indices.as<int32_t>()[i];
    if (index < 0 || index >= table.size(0)) return Error::kIndexOutOfRange;
    std::memmove(out, table.data() + static_cast<uint32_t>(index) * row_bytes, row_bytes);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::embedding.out", prepare, run);

}  // namespace rt::kernels
