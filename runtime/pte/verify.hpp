// Bounds of what the runtime reads of a flatbuffer: tables, their fields, vectors and strings.
//
// Verifies what is asked for, where it is asked for: most of a program's values are left over from
// its lowering and are never read. Offsets of a flatbuffer lead forwards, and none of these tables
// holds another of its kind, so that there is nothing that could go round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rt::pte {

// What is read of a table of the schema (program.fbs).
enum class Shape : uint8_t {
  kProgram,
  kSubsegmentOffsets,
  kSegment,
  kBuffer,
  kPlanName,  // of a plan that is only looked at for its name
  kPlan,
  kDevice,
  kOperator,
  kChain,
  kInstruction,
  kKernelCall,
  kValue,
  kInt,
  kBool,
  kDouble,
  kNumbers,  // a list of 64-bit numbers
  kIndices,  // a list of 32-bit numbers
  kText,
  kTensor,
  kAllocation,
  kExtraInfo,
};
inline constexpr size_t kShapes = static_cast<size_t>(Shape::kExtraInfo) + 1;

class Verifier {
 public:
  Verifier() = default;
  // `buffer` is at most 2^31 - 1 bytes. Of a verifier that has seen nothing yet.
  void open(std::span<const std::byte> buffer) {
    begin_ = buffer.data();
    size_ = static_cast<uint32_t>(buffer.size());
  }

  // @return whether the offset at the buffer's start leads to a table of the shape.
  bool root_fits(Shape shape);
  // Whether the table that lies at `table`, an address inside the buffer, and the tables that it
  // holds alone (not those of its vectors) are of the shape.
  bool fits(const void* table, Shape shape) { return table_fits(place_of(table), shape); }
  // Whether each entry of a vector of tables, itself verified, leads to a table of the shape.
  bool all_fit(const void* vector, Shape shape);
  // The same of one entry.
  bool entry_fits(const void* vector, uint32_t i, Shape shape) {
    uint32_t target = 0;
    return follow(place_of(vector) + kWordBytes + i * kWordBytes, target) &&
           table_fits(target, shape);
  }

 private:
  // The vtable that the last table of a shape had, and what was found of it: most tables of a shape
  // share one, and of those only what their offsets lead to is theirs.
  struct Seen {
    uint32_t vtable;
    uint16_t end;       // of its fields, counted from the table; 0: none was seen
    uint16_t offsets;   // bit i: field i of the shape is there, as an offset
    uint16_t offset;    // where the only one of them lies, if it may lead to anything
    bool simple;        // there is none but that
    uint8_t aligned;    // what its fields are aligned to, less 1
    uint8_t remainder;  // of the table's place by that
  };

  static constexpr uint32_t kWordBytes = sizeof(uint32_t);  // of an offset, and of a count

  bool table_fits(uint32_t at, Shape shape) {
    const Seen& seen = seen_[static_cast<size_t>(shape)];
    if (!seen.simple || !is_known(at, at - load<uint32_t>(at), seen)) return look_around(at, shape);
    uint32_t target = 0;
    return seen.offset == 0 || follow(at + seen.offset, target);
  }
  // Whether a table with this vtable has its fields where it should.
  bool is_known(uint32_t at, uint32_t vtable, const Seen& seen) const {
    return vtable == seen.vtable && (at & seen.aligned) == seen.remainder && seen.end != 0 &&
           seen.end <= size_ - at;
  }
  // The same as table_fits, of whatever table.
  [[gnu::noinline]] bool look_around(uint32_t at, Shape shape);
  bool look(uint32_t at, uint32_t vtable, Shape shape, Seen& seen) const;
  // Reads the offset at `at`, where there is room for one, to a place where there is room for
  // another word.
  bool follow(uint32_t at, uint32_t& target) const {
    const auto offset = load<uint32_t>(at);
    if (offset > size_ - at) return false;
    target = at + offset;
    return target <= size_ - kWordBytes && target % kWordBytes == 0;
  }
  uint32_t place_of(const void* inside) const {
    return static_cast<uint32_t>(static_cast<const std::byte*>(inside) - begin_);
  }
  template <typename T>
  T load(uint32_t at) const {
    T value = 0;
    std::memcpy(&value, begin_ + at, sizeof value);
    return value;
  }

  const std::byte* begin_ = nullptr;
  uint32_t size_ = 0;
  Seen seen_[kShapes] = {};
  Seen tensor_before_ = {};  // tensors have two kinds of vtables: of constants, and of the plan
};

}  // namespace rt::pte
