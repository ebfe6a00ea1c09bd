#include "runtime/core/tensor.hpp"

namespace rt {

Strides Tensor::strides() const {
  Strides strides = {};
  int32_t stride = 1;
  for (uint32_t i = rank_; i-- > 0;) {
    const uint32_t dim = dim_order_[i];
    strides.of[dim] = stride;
    stride *= sizes_[dim] > 0 ? sizes_[dim] : 1;
  }
  return strides;
}

bool Tensor::lies_as(const uint8_t* order) const {
  const Strides strides = this->strides();
  int32_t stride = 1;
  for (uint32_t i = rank_; i-- > 0;) {
    const uint32_t dim = order[i];
    if (sizes_[dim] == 1) continue;
    if (strides.of[dim] != stride) return false;
    stride *= sizes_[dim] > 0 ? sizes_[dim] : 1;
  }
  return true;
}

bool Tensor::is_contiguous() const {
  static constexpr uint8_t kRowMajor[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7};
  return lies_as(kRowMajor);
}

bool Tensor::is_channels_last() const {
  static constexpr uint8_t kNhwc[] = {0, 2, 3, 1};
  return rank_ == 4 && lies_as(kNhwc);
}

bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (uint32_t dim = 0; dim < a.rank(); ++dim) {
    if (a.size(dim) != b.size(dim)) return false;
  }
  return true;
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return same_shape(a, b) && a.lies_as(b.dim_order().data());
}

}  // namespace rt
