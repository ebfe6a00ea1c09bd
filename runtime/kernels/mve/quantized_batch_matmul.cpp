// cortex_m::quantized_batch_matmul with Helium, three rows at a time.
//
// sum((l + a) * (r + b)) = sum(l * r) + a * sum(r) + b * sum(l) + depth * a * b: the second term is
// a bias of the column, the rest is where the sums of a row start.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/mve/dot.hpp"
#include "runtime/kernels/planned_scratch.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::mve {
namespace {

enum Argument : uint32_t {
  kLhs,
  kLhsOffset,
  kRhs,
  kRhsOffset,
  kOutZeroPoint,
  kMultiplier,
  kShift,
  kScratch,
  kOut,
};

bool suits(const Args& args) {
  return args.tensor(kRhs).size(1) >= kChannels && args.tensor(kLhs).size(2) > 0 &&
         scale_fits(args.integer(kShift));
}

// A folded bias a column, and a row of outputs that nobody wants.
uint32_t scratch_bytes(const Args& args) {
  const int32_t columns = args.tensor(kRhs).size(1);
  return static_cast<uint32_t>(columns * 4 + ((columns + 3) & ~3));
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_batch_matmul(args, needs));
  if (suits(args)) need_scratch(args, kScratch, scratch_bytes(args), needs);
  return Error::kOk;
}

// One matrix times another, the second of them transposed.
class Product {
 public:
  Product(const Args& args, std::byte* scratch)
      : rows_(args.tensor(kLhs).size(1)),
        columns_(args.tensor(kRhs).size(1)),
        depth_(args.tensor(kLhs).size(2)),
        lhs_offset_(args.integer(kLhsOffset)),
        rhs_offset_(args.integer(kRhsOffset)),
        offset_(args.integer(kOutZeroPoint)),
        multipliers_(vector_of(args.integer(kMultiplier))),
        shifts_(vector_of(args.integer(kShift))),
        folded_(reinterpret_cast<int32_t*>(scratch)),
        spare_(reinterpret_cast<int8_t*>(folded_ + columns_)) {}

  void multiply(const int8_t* lhs, const int8_t* rhs, int8_t* out) const {
    constexpr int32_t kNoBias = 0;
    const Fold columns = {depth_, columns_, lhs_offset_, 0};
    rt_mve_fold_offset(&kNoBias, rhs, folded_, &columns);
    for (int32_t row = 0; row < rows_; row += kPixels) {
      const int32_t count = rows_ - row < kPixels ? rows_ - row : kPixels;
      multiply_rows(lhs + row * depth_, count, rhs, out + row * columns_);
    }
  }

 private:
  struct Vector {
    int32_t lanes[kChannels];
  };
  static Vector vector_of(int32_t value) { return {{value, value, value, value}}; }

  void multiply_rows(const int8_t* lhs, int32_t count, const int8_t* rhs, int8_t* out) const {
    const int32_t start = depth_ * lhs_offset_ * rhs_offset_;
    Dot3 dot = {
        {},      depth_, {}, folded_, multipliers_.lanes, shifts_.lanes, 0, {}, columns_ & ~3,
        offset_, -128,   127};
    const Fold rows = {depth_, count, rhs_offset_, 0};
    rt_mve_fold_offset(&start, lhs, dot.start, &rows);
    for (int32_t i = 0; i < kPixels; ++i) {
      const bool there = i < count;
      dot.activations[i] = there ? lhs + i * depth_ : lhs;
      dot.out[i] = there ? out + i * columns_ : spare_;
    }
    rt_mve_dot3(&dot, rhs);
    if (dot.channels == columns_) return;
    // The last four columns are done again as far as they were done.
    const int32_t last = columns_ - kChannels;
    dot.channels = kChannels;
    dot.bias += last;
    for (int8_t*& to : dot.out) to += last;
    rt_mve_dot3(&dot, rhs + last * depth_);
  }

  int32_t rows_, columns_, depth_;
  int32_t lhs_offset_, rhs_offset_, offset_;
  Vector multipliers_, shifts_;
  int32_t* folded_;
  int8_t* spare_;
};

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_quantized_batch_matmul(args, temporary);
  const Tensor& lhs = args.tensor(kLhs);
  const Tensor& rhs = args.tensor(kRhs);
  Tensor& out = args.tensor(kOut);
  const Product product(args, take_scratch(args, kScratch, scratch_bytes(args), temporary));
  for (int32_t b = 0; b < lhs.size(0); ++b) {
    product.multiply(lhs.as<int8_t>() + b * lhs.size(1) * lhs.size(2),
                     rhs.as<int8_t>() + b * rhs.size(1) * rhs.size(2),
                     out.as<int8_t>() + b * out.size(1) * out.size(2));
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_batch_matmul.out", prepare, run);

}  // namespace rt::kernels::mve
