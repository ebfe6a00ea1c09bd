// A tensor: where its data lies, and its shape as it stands in the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/scalar_type.hpp"

namespace rt {

inline constexpr uint32_t kMaxRank = 8;

// Elements from one index of a dimension to the next, by logical dimension.
struct Strides {
  int32_t of[kMaxRank];
};

// Owns nothing: sizes and dim order stay in the program, the data in the program (constants) or in
// the arena. 20 bytes on a 32-bit core, because a program has hundreds of them.
// Sizes are logical (NCHW for images); `dim_order` lists dimensions from outer to inner in memory.
// A tensor of a loaded method has rank <= kMaxRank, sizes >= 0, a permutation as dim order, and
// fewer than 2^31 bytes.
class Tensor {
 public:
  constexpr Tensor() = default;
  Tensor(ScalarType type, std::span<const int32_t> sizes, const uint8_t* dim_order, uint32_t numel,
         std::byte* data, bool constant)
      : data_(data),
        sizes_(sizes.data()),
        dim_order_(dim_order),
        numel_(numel),
        type_(type),
        rank_(static_cast<uint8_t>(sizes.size())),
        constant_(constant) {}

  ScalarType type() const { return type_; }
  uint32_t rank() const { return rank_; }
  int32_t size(uint32_t dim) const { return sizes_[dim]; }
  std::span<const int32_t> sizes() const { return {sizes_, rank_}; }
  std::span<const uint8_t> dim_order() const { return {dim_order_, rank_}; }
  uint32_t numel() const { return numel_; }
  uint32_t nbytes() const { return numel_ * element_bytes(type_); }
  bool is_constant() const { return constant_; }  // lies in the program: never written

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

  void place(std::byte* data) { data_ = data; }

  Strides strides() const;

  // Whether the elements lie in memory in the order of these dimensions. Dimensions of size 1 do
  // not count: an image of one channel is both channels-last and contiguous, whatever the dim order
  // says. `order` has rank() entries.
  bool lies_as(const uint8_t* order) const;
  bool is_contiguous() const;     // row-major
  bool is_channels_last() const;  // rank 4 and NHWC in memory

 private:
  std::byte* data_ = nullptr;
  const int32_t* sizes_ = nullptr;
  const uint8_t* dim_order_ = nullptr;
  uint32_t numel_ = 0;
  ScalarType type_ = ScalarType::kByte;
  uint8_t rank_ = 0;
  bool constant_ = false;
};

bool same_shape(const Tensor& a, const Tensor& b);
// Same shape and the same place in memory for each index.
bool same_layout(const Tensor& a, const Tensor& b);

}  // namespace rt
