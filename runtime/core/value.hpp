// Values of a method, as compact as the program allows: scalars at once, lists in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/core/tensor.hpp"

namespace rt {

enum class ValueKind : uint8_t {
  kUnused,  // no instruction needs it: it was never looked at
  kNone,
  kInt,
  kWideInt,  // an integer of more than 32 bits; the slot has the nearest one of 32
  kBool,
  kDouble,
  kTensor,
  kIntList,
  kTensorList,
  kDoubleList,
  kString,
  kOther,  // a kind that no kernel takes
};

// A list of integers as the program has it: a count, then 64-bit indices of Int values. In place;
// the indices are checked where the list is taken as an argument.
struct BoxedList {
  const std::byte* count_then_items;

  uint32_t count() const {
    uint32_t count = 0;
    std::memcpy(&count, count_then_items, sizeof count);
    return count;
  }
  int64_t item(uint32_t i) const {
    int64_t item = 0;
    std::memcpy(&item, count_then_items + sizeof(uint32_t) + i * sizeof item, sizeof item);
    return item;
  }
};

// A list of tensors as the program has it: a count, then 32-bit indices of values, -1 for None.
struct TensorIndices {
  const std::byte* count_then_items;

  uint32_t count() const {
    uint32_t count = 0;
    std::memcpy(&count, count_then_items, sizeof count);
    return count;
  }
  int32_t item(uint32_t i) const {
    int32_t item = 0;
    std::memcpy(&item, count_then_items + sizeof(uint32_t) + i * sizeof item, sizeof item);
    return item;
  }
};

// A list of doubles in place.
struct DoubleItems {
  const std::byte* count_then_items;

  uint32_t count() const {
    uint32_t count = 0;
    std::memcpy(&count, count_then_items, sizeof count);
    return count;
  }
  double operator[](uint32_t i) const {
    double item = 0.0;
    std::memcpy(&item, count_then_items + sizeof(uint32_t) + i * sizeof item, sizeof item);
    return item;
  }
};

// A text in place: its length, then its characters.
struct Text {
  const std::byte* length_then_characters;

  std::string_view view() const {
    uint32_t length = 0;
    std::memcpy(&length, length_then_characters, sizeof length);
    return {reinterpret_cast<const char*>(length_then_characters) + sizeof length, length};
  }
};

// What a value holds; which member is valid is said by its ValueKind.
union ValueSlot {
  int32_t integer;        // kInt, kBool, kWideInt
  const double* real;     // kDouble, in place
  Tensor* tensor;         // kTensor
  BoxedList list;         // kIntList
  TensorIndices tensors;  // kTensorList
  DoubleItems doubles;    // kDoubleList
  Text text;              // kString
};

// Parallel arrays, 5 bytes a value on a 32-bit core.
struct ValueTable {
  const ValueSlot* slots;
  const ValueKind* kinds;
  uint32_t count;
};

}  // namespace rt
