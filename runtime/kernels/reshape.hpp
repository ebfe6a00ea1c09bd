// Copies that keep the logical order of the elements and change the shape.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {

inline Error check_reshape(Args& args, uint32_t input, uint32_t out) {
  RT_TRY(expect_type(args, {out}, args.tensor(input).type()));
  return args.tensor(input).numel() == args.tensor(out).numel()
             ? Error::kOk
             : args.refuse(out, Error::kArgumentShape);
}

// Steps through a tensor in logical (row-major) order.
class Cursor {
 public:
  explicit Cursor(const Tensor& tensor) : tensor_(tensor), strides_(tensor.strides()) {}
  int32_t offset() const { return offset_; }
  int32_t index(uint32_t dim) const { return index_[dim]; }
  const int32_t (&indices() const)[kMaxRank] { return index_; }
  void next() {
    for (uint32_t dim = tensor_.rank(); dim-- > 0;) {
      offset_ += strides_.of[dim];
      if (++index_[dim] < tensor_.size(dim)) return;
      offset_ -= index_[dim] * strides_.of[dim];
      index_[dim] = 0;
    }
  }

 private:
  const Tensor& tensor_;
  Strides strides_;
  int32_t index_[kMaxRank] = {};
  int32_t offset_ = 0;
};

inline void reshape(const Tensor& from, Tensor& to) {
  if (from.is_contiguous() && to.is_contiguous()) {
    std::memmove(to.data(), from.data(), to.nbytes());
    return;
  }
  const uint32_t bytes = element_bytes(to.type());
  Cursor source(from);
  Cursor target(to);
  for (uint32_t i = 0; i < to.numel(); ++i, source.next(), target.next()) {
    std::memmove(to.data() + static_cast<uint32_t>(target.offset()) * bytes,
                 from.data() + static_cast<uint32_t>(source.offset()) * bytes, bytes);
  }
}

}  // namespace rt::kernels
