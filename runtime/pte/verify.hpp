// Bounds of what the runtime reads of a flatbuffer: tables, their fields, vectors and strings.
//
// Verifies what is asked for, where it is asked for: most of a program's values are left over from
// its lowering and are never read. Offsets of a flatbuffer lead forwards, and none of these tables
// holds another of its kind, so that there is nothing that could go round.
#pragma once

#include <cstddef>
#include <cstdint>
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

class Verifier {
 public:
  Verifier() = default;
  // `buffer` is at most 2^31 - 1 bytes.
  explicit Verifier(std::span<const std::byte> buffer)
      : begin_(buffer.data()), size_(static_cast<uint32_t>(buffer.size())) {}

  // @return whether the offset at the buffer's start leads to a table of the shape.
  bool root_fits(Shape shape) const;
  // Whether the table that lies at `table`, an address inside the buffer, and the tables that it
  // holds alone (not those of its vectors) are of the shape.
  bool fits(const void* table, Shape shape) const;
  // Whether each entry of a vector of tables, itself verified, leads to a table of the shape.
  bool all_fit(const void* vector, Shape shape) const;
  // The same of one entry.
  bool entry_fits(const void* vector, uint32_t i, Shape shape) const;

 private:
  bool table_fits(uint32_t at, Shape shape) const;
  bool follow(uint32_t at, uint32_t& target) const;
  template <typename T>
  T load(uint32_t at) const;

  const std::byte* begin_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace rt::pte
