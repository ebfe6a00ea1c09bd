// aten::_cdist_forward, float32: distances of each row of one matrix to each of another, batches
// broadcast.

#include "runtime/kernels/distance.hpp"
#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kFirst, kSecond, kNorm, kMode, kOut };

// Whether dimension `dim` of the output is that of the operand, or the operand is broadcast there.
bool batch_fits(const Tensor& operand, const Tensor& out, uint32_t dim) {
  const uint32_t skipped = out.rank() - operand.rank();
  if (dim < skipped) return true;
  const int32_t size = operand.size(dim - skipped);
  return size == 1 || size == out.size(dim);
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttsjo="));
  RT_TRY(expect_type(args, {kFirst, kSecond, kOut}, ScalarType::kFloat));
  if (!(args.number(kNorm) >= 0.0)) return args.refuse(kNorm, Error::kArgumentValue);
  const Tensor& a = args.tensor(kFirst);
  const Tensor& b = args.tensor(kSecond);
  const Tensor& out = args.tensor(kOut);
  if (a.rank() < 2) return args.refuse(kFirst, Error::kArgumentShape);
  if (b.rank() < 2 || a.size(a.rank() - 1) != b.size(b.rank() - 1)) {
    return args.refuse(kSecond, Error::kArgumentShape);
  }
  const uint32_t rank = out.rank();
  bool fits = rank == (a.rank() > b.rank() ? a.rank() : b.rank()) &&
              out.size(rank - 2) == a.size(a.rank() - 2) &&
              out.size(rank - 1) == b.size(b.rank() - 2);
  for (uint32_t dim = 0; fits && dim < rank - 2; ++dim) {
    fits = batch_fits(a, out, dim) && batch_fits(b, out, dim);
  }
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

// @return offset of row `row` of the operand, in the batch at the cursor.
int32_t row_offset(const Tensor& operand, const Strides& strides, const Cursor& at, uint32_t rank,
                   int32_t row) {
  int32_t offset = row * strides.of[operand.rank() - 2];
  for (uint32_t dim = 0; dim < rank - 2; ++dim) {
    offset += at.index(dim) * broadcast_stride(operand, strides, dim, rank);
  }
  return offset;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& a = args.tensor(kFirst);
  const Tensor& b = args.tensor(kSecond);
  Tensor& out = args.tensor(kOut);
  const Strides a_strides = a.strides();
  const Strides b_strides = b.strides();
  const uint32_t rank = out.rank();
  const auto p = static_cast<float>(args.number(kNorm));
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, to.next()) {
    const float* first = a.as<float>() + row_offset(a, a_strides, to, rank, to.index(rank - 2));
    const float* second = b.as<float>() + row_offset(b, b_strides, to, rank, to.index(rank - 1));
    out.as<float>()[to.offset()] =
        row_distance(first, a_strides.of[a.rank() - 1], second, b_strides.of[b.rank() - 1],
                     a.size(a.rank() - 1), p);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::_cdist_forward.out", prepare, run);

}  // namespace rt::kernels
