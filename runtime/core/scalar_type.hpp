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

// @return bytes of an element, 0 for a type that this runtime cannot hold.
constexpr uint32_t element_bytes(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kChar:
    case ScalarType::kBool:
      return 1;
    case ScalarType::kShort:
    case ScalarType::kHalf:
    case ScalarType::kBFloat16:
    case ScalarType::kUInt16:
      return 2;
    case ScalarType::kInt:
    case ScalarType::kFloat:
    case ScalarType::kUInt32:
      return 4;
    case ScalarType::kLong:
    case ScalarType::kDouble:
    case ScalarType::kUInt64:
      return 8;
  }
  return 0;
}

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
