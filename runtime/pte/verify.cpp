#include "runtime/pte/verify.hpp"

#include <utility>

#include "program_generated.h"

namespace rt::pte {
namespace {

namespace fb = ::executorch_flatbuffer;

// How a field is stored: in place, of so many bytes (as their logarithm), or as an offset to
// something.
enum Kind : uint8_t { kByte, kHalf, kWord, kDouble, kOffset, kTable, kBytes, kWords, kDoubles };

struct Field {
  uint8_t slot;  // in the vtable
  Kind kind;
  Shape shape;  // of kTable
};

constexpr Field field(flatbuffers::voffset_t slot, Kind kind, Shape shape = Shape::kProgram) {
  return {static_cast<uint8_t>(slot), kind, shape};
}

constexpr Field kFields[] = {
    field(fb::Program::VT_EXECUTION_PLAN, kWords),
    field(fb::Program::VT_CONSTANT_BUFFER, kWords),
    field(fb::Program::VT_SEGMENTS, kWords),
    field(fb::Program::VT_CONSTANT_SEGMENT, kTable, Shape::kSubsegmentOffsets),
    field(fb::SubsegmentOffsets::VT_SEGMENT_INDEX, kWord),
    field(fb::SubsegmentOffsets::VT_OFFSETS, kDoubles),
    field(fb::DataSegment::VT_OFFSET, kDouble),
    field(fb::DataSegment::VT_SIZE, kDouble),
    field(fb::Buffer::VT_STORAGE, kBytes),
    field(fb::ExecutionPlan::VT_NAME, kBytes),
    field(fb::ExecutionPlan::VT_VALUES, kWords),
    field(fb::ExecutionPlan::VT_INPUTS, kWords),
    field(fb::ExecutionPlan::VT_OUTPUTS, kWords),
    field(fb::ExecutionPlan::VT_CHAINS, kWords),
    field(fb::ExecutionPlan::VT_OPERATORS, kWords),
    field(fb::ExecutionPlan::VT_DELEGATES, kWords),
    field(fb::ExecutionPlan::VT_NON_CONST_BUFFER_SIZES, kDoubles),
    field(fb::ExecutionPlan::VT_NON_CONST_BUFFER_DEVICE, kWords),
    field(fb::NonConstBufferDevice::VT_DEVICE_TYPE, kByte),
    field(fb::Operator::VT_NAME, kBytes),
    field(fb::Operator::VT_OVERLOAD, kBytes),
    field(fb::Chain::VT_INSTRUCTIONS, kWords),
    field(fb::Instruction::VT_INSTR_ARGS_TYPE, kByte),
    field(fb::Instruction::VT_INSTR_ARGS, kOffset),
    field(fb::KernelCall::VT_OP_INDEX, kWord),
    field(fb::KernelCall::VT_ARGS, kWords),
    field(fb::EValue::VT_VAL_TYPE, kByte),
    field(fb::EValue::VT_VAL, kOffset),
    field(fb::Int::VT_INT_VAL, kDouble),
    field(fb::Bool::VT_BOOL_VAL, kByte),
    field(fb::Double::VT_DOUBLE_VAL, kDouble),
    field(fb::IntList::VT_ITEMS, kDoubles),
    field(fb::TensorList::VT_ITEMS, kWords),
    field(fb::String::VT_STRING_VAL, kBytes),
    field(fb::Tensor::VT_SCALAR_TYPE, kByte),
    field(fb::Tensor::VT_STORAGE_OFFSET, kWord),
    field(fb::Tensor::VT_SIZES, kWords),
    field(fb::Tensor::VT_DIM_ORDER, kBytes),
    field(fb::Tensor::VT_DATA_BUFFER_IDX, kWord),
    field(fb::Tensor::VT_ALLOCATION_INFO, kTable, Shape::kAllocation),
    field(fb::Tensor::VT_LAYOUT, kByte),
    field(fb::Tensor::VT_SHAPE_DYNAMISM, kByte),
    field(fb::Tensor::VT_EXTRA_TENSOR_INFO, kTable, Shape::kExtraInfo),
    field(fb::AllocationDetails::VT_MEMORY_ID, kWord),
    field(fb::AllocationDetails::VT_MEMORY_OFFSET_LOW, kWord),
    field(fb::AllocationDetails::VT_MEMORY_OFFSET_HIGH, kWord),
    field(fb::ExtraTensorInfo::VT_LOCATION, kByte),
    field(fb::ExtraTensorInfo::VT_DEVICE_TYPE, kByte),
};

// How many of the fields above are each shape's, in the order of `Shape`. A plan's name comes
// first, so that a plan of which only that is read has its fields from there.
constexpr uint8_t kCounts[] = {4, 2, 2, 1, 1, 8, 1, 2, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 9, 3, 2};
static_assert(sizeof kCounts == kShapes);

struct Ends {
  uint8_t of[kShapes + 1];
};
constexpr Ends ends() {
  Ends made = {};
  for (size_t i = 0; i < kShapes; ++i) {
    made.of[i + 1] = static_cast<uint8_t>(made.of[i] + kCounts[i]);
  }
  return made;
}
constexpr Ends kEnds = ends();
static_assert(kEnds.of[kShapes] == sizeof kFields / sizeof kFields[0]);

static_assert(int{fb::IntList::VT_ITEMS} == int{fb::DoubleList::VT_ITEMS});
static_assert(int{fb::TensorList::VT_ITEMS} == int{fb::OptionalTensorList::VT_ITEMS});

}  // namespace

// Bounds the vtable, and all fields of a table that has it.
bool Verifier::look(uint32_t at, uint32_t vtable, Shape shape, Seen& seen) const {
  if (vtable > size_ - kWordBytes || vtable % sizeof(uint16_t) != 0) return false;
  const uint32_t vtable_bytes = load<uint16_t>(vtable);
  if (vtable_bytes % sizeof(uint16_t) != 0 || vtable_bytes > size_ - vtable) return false;
  uint32_t end = kWordBytes;
  uint32_t aligned = kWordBytes;
  uint32_t offsets = 0;
  uint32_t only = 0;
  bool simple = true;
  const auto index = static_cast<size_t>(shape);
  const Field* const begin = kFields + kEnds.of[index];
  for (const Field* f = begin; f != kFields + kEnds.of[index + 1]; ++f) {
    if (f->slot >= vtable_bytes) continue;
    const uint32_t offset = load<uint16_t>(vtable + f->slot);
    if (offset == 0) continue;
    const uint32_t place = at + offset;
    const uint32_t bytes = f->kind < kOffset ? 1U << f->kind : kWordBytes;
    if (place > size_ || bytes > size_ - place || place % bytes != 0) return false;
    if (bytes > aligned) aligned = bytes;
    if (offset + bytes > end) end = offset + bytes;
    if (f->kind < kOffset) continue;
    simple = f->kind == kOffset && offsets == 0;
    only = offset;
    offsets |= 1U << (f - begin);
  }
  // A field may begin in a table's last 64 KB and end behind them: such a vtable is looked at anew.
  const bool short_enough = end <= 0xFFFF;
  seen = {.vtable = vtable,
          .end = static_cast<uint16_t>(short_enough ? end : 0),
          .offsets = static_cast<uint16_t>(offsets),
          .offset = static_cast<uint16_t>(only),
          .simple = simple,
          .aligned = static_cast<uint8_t>(aligned - 1),
          .remainder = static_cast<uint8_t>(at & (aligned - 1))};
  return true;
}

bool Verifier::look_around(uint32_t at, Shape shape) {
  // A table holds at most two others, which hold none.
  struct Pending {
    uint32_t at;
    Shape shape;
  } pending[3];
  pending[0] = {at, shape};
  for (uint32_t count = 1; count > 0;) {
    const Pending table = pending[--count];
    const uint32_t vtable = table.at - load<uint32_t>(table.at);
    const auto index = static_cast<size_t>(table.shape);
    Seen& seen = seen_[index];
    if (!is_known(table.at, vtable, seen)) {
      if (table.shape == Shape::kTensor) std::swap(seen, tensor_before_);
      if (!is_known(table.at, vtable, seen) && !look(table.at, vtable, table.shape, seen)) {
        return false;
      }
    }
    const Field* f = kFields + kEnds.of[index];
    for (uint32_t left = seen.offsets; left != 0; left >>= 1, ++f) {
      if ((left & 1U) == 0) continue;
      uint32_t target = 0;
      if (!follow(table.at + load<uint16_t>(vtable + f->slot), target)) return false;
      if (f->kind == kTable) {
        pending[count++] = {target, f->shape};
      } else if (f->kind != kOffset) {
        const uint32_t logarithm = f->kind == kBytes ? 0 : f->kind == kWords ? 2 : 3;
        const uint32_t room = (size_ - target - kWordBytes) >> logarithm;
        if (load<uint32_t>(target) > room) return false;
      }
    }
  }
  return true;
}

bool Verifier::root_fits(Shape shape) {
  uint32_t target = 0;
  return size_ >= kWordBytes && follow(0, target) && table_fits(target, shape);
}

bool Verifier::all_fit(const void* vector, Shape shape) {
  if (vector == nullptr) return true;
  for (uint32_t i = 0, count = load<uint32_t>(place_of(vector)); i < count; ++i) {
    if (!entry_fits(vector, i, shape)) return false;
  }
  return true;
}

}  // namespace rt::pte
