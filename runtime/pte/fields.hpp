// Fields of a flatbuffer's table that was verified: the vtable is found once for all of them, where
// the generated accessors look for it each time.
#pragma once

#include <cstdint>
#include <cstring>

namespace rt::pte {

class Fields {
 public:
  explicit Fields(const void* table) : table_(static_cast<const std::byte*>(table)) {
    vtable_ = table_ - load<int32_t>(table_);
    vtable_bytes_ = load<uint16_t>(vtable_);
  }

  // @return where the field of a vtable's slot lies, nullptr if it is left out.
  const std::byte* at(uint32_t slot) const {
    if (slot >= vtable_bytes_) return nullptr;
    const uint32_t offset = load<uint16_t>(vtable_ + slot);
    return offset == 0 ? nullptr : table_ + offset;
  }
  // @return the field, 0 if it is left out, which is the default of all that is read with this.
  template <typename T>
  T number(uint32_t slot) const {
    const std::byte* const place = at(slot);
    return place == nullptr ? T{0} : load<T>(place);
  }
  // @return the table or vector that the field leads to, nullptr if it is left out.
  const std::byte* target(uint32_t slot) const {
    const std::byte* const place = at(slot);
    return place == nullptr ? nullptr : follow(place);
  }

  // @return where the offset at `place` leads to.
  static const std::byte* follow(const std::byte* place) { return place + load<uint32_t>(place); }
  template <typename T>
  static T load(const std::byte* place) {
    T value = 0;
    std::memcpy(&value, place, sizeof value);
    return value;
  }

 private:
  const std::byte* table_;
  const std::byte* vtable_;
  uint32_t vtable_bytes_;
};

}  // namespace rt::pte
