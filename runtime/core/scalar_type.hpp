// Element types of tensors, numbered as in ExecuTorch's scalar_type.fbs.
#pragma once

#include <cstdint>

namespace rt {

enum class ScalarType : int8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBool = 11,
  kBFloat16 = 15,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};

// By type; 0 for one that this runtime cannot hold. One table for all that ask: a switch would be
// one for each.
inline constexpr uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0,
                                            2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 8};

// @return bytes of an element, 0 for a type that this runtime cannot hold.
constexpr uint32_t element_bytes(ScalarType type) {
  const auto index = static_cast<uint8_t>(type);
  return index < sizeof kElementBytes ? kElementBytes[index] : 0;
}
static_assert(element_bytes(ScalarType::kBool) == 1 && element_bytes(ScalarType::kBFloat16) == 2 &&
              element_bytes(ScalarType::kUInt16) == 2 && element_bytes(ScalarType::kUInt64) == 8);

template <typename T>
struct ScalarTypeOf;
template <>
struct ScalarTypeOf<int8_t> {
  static constexpr ScalarType kValue = ScalarType::kChar;
};
template <>
struct ScalarTypeOf<uint8_t> {
  static constexpr ScalarType kValue = ScalarType::kByte;
};
template <>
struct ScalarTypeOf<int16_t> {
  static constexpr ScalarType kValue = ScalarType::kShort;
};
template <>
struct ScalarTypeOf<int32_t> {
  static constexpr ScalarType kValue = ScalarType::kInt;
};
template <>
struct ScalarTypeOf<int64_t> {
  static constexpr ScalarType kValue = ScalarType::kLong;
};
template <>
struct ScalarTypeOf<float> {
  static constexpr ScalarType kValue = ScalarType::kFloat;
};

}  // namespace rt
