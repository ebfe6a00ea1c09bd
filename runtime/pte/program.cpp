#include "runtime/pte/program.hpp"

#include <bit>
#include <cstring>

#include "program_generated.h"
#include "runtime/pte/fields.hpp"

// Lists are read in place, so the core must have the file's byte order.
static_assert(std::endian::native == std::endian::little);

namespace rt::pte {
namespace {

// Constants are aligned to 16 in the file (program.fbs, force_align).
constexpr uintptr_t kFileAlignment = 16;
// Sizes above this do not occur on a microcontroller; below it, 32-bit arithmetic cannot overflow.
constexpr uint64_t kMaxBytes = 0x7FFF'FFFF;

// The extended header: schema/extended_header.h of ExecuTorch. It follows the flatbuffer's root
// offset and file identifier.
struct ExtendedHeader {
  char magic[4];
  uint32_t length;
  uint64_t program_bytes;
  uint64_t segments_begin;
  uint64_t segments_bytes;
};
static_assert(sizeof(ExtendedHeader) == 32);
constexpr size_t kExtendedHeaderOffset = 8;
constexpr uint32_t kLengthWithoutSegmentBytes = 24;

struct Extent {
  uint64_t program_bytes;
  uint64_t segments_begin;
};

Error read_header(std::span<const std::byte> file, Extent& extent) {
  if (file.size() < kExtendedHeaderOffset) return Error::kProgramForeign;
  if (std::memcmp(file.data() + 4, fb::ProgramIdentifier(), 4) != 0) return Error::kProgramForeign;

  extent = {file.size(), file.size()};
  if (file.size() - kExtendedHeaderOffset < sizeof(ExtendedHeader)) return Error::kProgramTruncated;
  ExtendedHeader header = {};
  std::memcpy(&header, file.data() + kExtendedHeaderOffset, sizeof header);
  if (std::memcmp(header.magic, "eh00", 4) != 0) return Error::kOk;  // a file without segments

  if (header.length < kLengthWithoutSegmentBytes) return Error::kProgramCorrupt;
  if (header.program_bytes > file.size()) return Error::kProgramTruncated;
  extent.program_bytes = header.program_bytes;
  if (header.segments_begin == 0) return Error::kOk;
  if (header.segments_begin > file.size()) return Error::kProgramTruncated;
  extent.segments_begin = header.segments_begin;
  if (header.length < sizeof header) return Error::kOk;
  if (header.segments_bytes > file.size() - header.segments_begin) return Error::kProgramTruncated;
  return Error::kOk;
}

std::string_view view(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->c_str(), string->size());
}

template <typename T>
std::span<const T> span(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return {};
  return {vector->data(), vector->size()};
}

template <typename T>
uint32_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// The verifier aligns a vector's length, not its items: numbers of 64 bits may lie at any multiple
// of 4.
template <typename T>
T item(const flatbuffers::Vector<T>& vector, uint32_t i) {
  T number = 0;
  std::memcpy(&number, vector.Data() + i * sizeof number, sizeof number);
  return number;
}

// The vector at `vector`, which may be left out.
template <typename T>
std::span<const T> items(const std::byte* vector) {
  if (vector == nullptr) return {};
  const auto count = Fields::load<uint32_t>(vector);
  return {reinterpret_cast<const T*>(vector + sizeof count), count};
}

bool all_below(std::span<const int32_t> indices, uint32_t end) {
  for (const int32_t index : indices) {
    if (index < 0 || static_cast<uint32_t>(index) >= end) return false;
  }
  return true;
}

Error check_shape(std::span<const int32_t> sizes, std::span<const uint8_t> dim_order,
                  uint32_t bytes_per_element, uint32_t& numel) {
  if (sizes.size() > kMaxRank || dim_order.size() != sizes.size()) {
    return Error::kTensorShapeInvalid;
  }
  uint32_t seen = 0;
  for (const uint8_t dim : dim_order) {
    if (dim >= sizes.size() || (seen >> dim & 1U) != 0) return Error::kTensorShapeInvalid;
    seen |= 1U << dim;
  }
  // The bound holds without the zero sizes too: a loop over the other dimensions ends.
  uint64_t extent = bytes_per_element;
  bool empty = false;
  for (const int32_t size : sizes) {
    if (size < 0) return Error::kTensorShapeInvalid;
    empty = empty || size == 0;
    if (size > 0) extent *= static_cast<uint32_t>(size);
    if (extent > kMaxBytes) return Error::kTensorShapeInvalid;
  }
  numel = empty ? 0 : static_cast<uint32_t>(extent) / bytes_per_element;
  return Error::kOk;
}

// What the format can say of a tensor and this runtime does not do.
Error check_features(const Fields& table) {
  using fb::Tensor;
  if (table.number<uint8_t>(Tensor::VT_SHAPE_DYNAMISM) !=
      static_cast<uint8_t>(fb::TensorShapeDynamism::STATIC)) {
    return Error::kDynamicShapeUnsupported;
  }
  if (table.number<int32_t>(Tensor::VT_STORAGE_OFFSET) != 0 ||
      table.number<int8_t>(Tensor::VT_LAYOUT) != 0) {
    return Error::kLayoutUnsupported;
  }
  if (const std::byte* extra = table.target(Tensor::VT_EXTRA_TENSOR_INFO)) {
    const auto& info = *reinterpret_cast<const fb::ExtraTensorInfo*>(extra);
    if (info.location() != fb::TensorDataLocation::SEGMENT) {
      return Error::kExternalDataUnsupported;
    }
    if (info.device_type() != fb::DeviceType::CPU) return Error::kDeviceUnsupported;
  }
  return Error::kOk;
}
static_assert(static_cast<int>(fb::TensorShapeDynamism::STATIC) == 0,
              "a field that is left out is 0 to Fields");

Error check_instruction(const fb::ExecutionPlan& plan, const fb::Instruction& instruction,
                        Verifier& verifier, uint32_t& names) {
  switch (instruction.instr_args_type()) {
    case fb::InstructionArguments::KernelCall:
      break;
    case fb::InstructionArguments::DelegateCall:
      return Error::kDelegateUnsupported;
    case fb::InstructionArguments::JumpFalseCall:
    case fb::InstructionArguments::MoveCall:
      return Error::kControlFlowUnsupported;
    default:
      return Error::kInstructionUnsupported;
  }
  const fb::KernelCall* call = instruction.instr_args_as_KernelCall();
  if (call == nullptr || !verifier.fits(call, Shape::kKernelCall) || call->args() == nullptr) {
    return Error::kProgramCorrupt;
  }
  const int32_t index = call->op_index();
  if (index < 0 || static_cast<uint32_t>(index) >= length(plan.operators())) {
    return Error::kIndexOutOfRange;
  }
  names = length(call->args());
  return all_below(span(call->args()), length(plan.values())) ? Error::kOk
                                                              : Error::kIndexOutOfRange;
}

}  // namespace

Error open(std::span<const std::byte> file, std::string_view method, Verifier& verifier,
           Plan& out) {
  if (reinterpret_cast<uintptr_t>(file.data()) % kFileAlignment != 0) {
    return Error::kProgramMisaligned;
  }
  Extent extent = {};
  RT_TRY(read_header(file, extent));
  // Bounds are verified where something is read: here of what leads to the method.
  if (extent.program_bytes > kMaxBytes) return Error::kProgramCorrupt;
  verifier.open(file.first(static_cast<size_t>(extent.program_bytes)));
  if (!verifier.root_fits(Shape::kProgram)) return Error::kProgramCorrupt;
  const fb::Program* program = fb::GetProgram(file.data());
  if (length(program->execution_plan()) == 0 ||
      !verifier.all_fit(program->execution_plan(), Shape::kPlanName) ||
      !verifier.all_fit(program->segments(), Shape::kSegment)) {
    return Error::kProgramCorrupt;
  }
  for (const fb::ExecutionPlan* plan : *program->execution_plan()) {
    if (view(plan->name()) == method) {
      if (!verifier.fits(plan, Shape::kPlan)) return Error::kProgramCorrupt;
      out = Plan(program, plan, file, extent.segments_begin);
      return Error::kOk;
    }
  }
  return Error::kMethodMissing;
}

Plan::Plan(const fb::Program* program, const fb::ExecutionPlan* plan,
           std::span<const std::byte> file, uint64_t segments_begin)
    : program_(program), plan_(plan), file_(file), segments_begin_(segments_begin) {
  if (const auto* values = plan->values()) {
    values_ = reinterpret_cast<const std::byte*>(values->data());
    value_count_ = values->size();
  }
}

Error Plan::check(Verifier& verifier, int32_t& instruction) {
  instruction = -1;
  if (length(plan_->delegates()) != 0) return Error::kDelegateUnsupported;
  if (length(plan_->chains()) != 1) return Error::kControlFlowUnsupported;
  if (!verifier.entry_fits(plan_->chains(), 0, Shape::kChain) ||
      plan_->chains()->Get(0)->instructions() == nullptr ||
      !verifier.all_fit(plan_->operators(), Shape::kOperator) ||
      !verifier.all_fit(plan_->non_const_buffer_device(), Shape::kDevice)) {
    return Error::kProgramCorrupt;
  }
  if (!all_below(inputs(), value_count()) || !all_below(outputs(), value_count())) {
    return Error::kIndexOutOfRange;
  }
  if (const auto* devices = plan_->non_const_buffer_device()) {
    for (const fb::NonConstBufferDevice* device : *devices) {
      if (device->device_type() != fb::DeviceType::CPU) return Error::kDeviceUnsupported;
    }
  }
  for (uint32_t i = 1; i < buffer_end(); ++i) {
    const int64_t bytes = item(*plan_->non_const_buffer_sizes(), i);
    if (bytes < 0 || static_cast<uint64_t>(bytes) > kMaxBytes) return Error::kTensorOutOfBounds;
  }
  const auto& instructions = *plan_->chains()->Get(0)->instructions();
  // Each naming takes bytes of its own in the file. Where instructions share what they consist of,
  // they could name as many values as the square of its size.
  uint64_t named = inputs().size() + outputs().size();
  instructions_ = reinterpret_cast<const std::byte*>(instructions.data());
  instruction_count_ = instructions.size();
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    uint32_t names = 0;
    Error error = verifier.entry_fits(&instructions, i, Shape::kInstruction)
                      ? check_instruction(*plan_, *instructions.Get(i), verifier, names)
                      : Error::kProgramCorrupt;
    named += 1 + names;
    if (error == Error::kOk && named > file_.size()) error = Error::kProgramTangled;
    if (error != Error::kOk) {
      instruction = static_cast<int32_t>(i);
      return error;
    }
  }
  return Error::kOk;
}

[[gnu::flatten]] const fb::EValue* Plan::value(Verifier& verifier, uint32_t i) const {
  // In the order of KernelTypes; what no kernel takes is not looked at.
  static constexpr Shape kOfKind[] = {
      Shape::kInt,     Shape::kBool,    Shape::kDouble, Shape::kTensor,  Shape::kText,
      Shape::kNumbers, Shape::kNumbers, Shape::kText,   Shape::kIndices, Shape::kIndices};
  static_assert(static_cast<int>(fb::KernelTypes::Int) == 2 &&
                static_cast<int>(fb::KernelTypes::OptionalTensorList) == 11);
  if (!verifier.entry_fits(values_ - sizeof(uint32_t), i, Shape::kValue)) return nullptr;
  const std::byte* const table = Fields::follow(values_ + i * sizeof(uint32_t));
  const auto* const value = reinterpret_cast<const fb::EValue*>(table);
  const Fields found(table);
  const uint32_t type = found.number<uint8_t>(fb::EValue::VT_VAL_TYPE) - 2U;
  const std::byte* const what = found.target(fb::EValue::VT_VAL);
  if (what == nullptr || type >= sizeof kOfKind / sizeof kOfKind[0]) return value;
  return verifier.fits(what, kOfKind[type]) ? value : nullptr;
}

uint32_t Plan::operator_count() const { return length(plan_->operators()); }

// Flat: it is the dispatch of every instruction, and -Os would make a call of each field's reader.
[[gnu::flatten]] Instruction Plan::instruction(uint32_t i) const {
  uint32_t offset = 0;
  const std::byte* const place = instructions_ + i * sizeof offset;
  std::memcpy(&offset, place, sizeof offset);
  // A call of a kernel, as every one is here.
  const auto& call = *static_cast<const fb::KernelCall*>(
      reinterpret_cast<const fb::Instruction*>(place + offset)->instr_args());
  return {call.args()->data(), call.args()->size(), static_cast<uint32_t>(call.op_index())};
}

OperatorName Plan::operator_name(uint32_t i) const {
  const fb::Operator& op = *plan_->operators()->Get(i);
  return {view(op.name()), view(op.overload())};
}

std::span<const int32_t> Plan::inputs() const { return span(plan_->inputs()); }
std::span<const int32_t> Plan::outputs() const { return span(plan_->outputs()); }

uint32_t Plan::buffer_end() const { return length(plan_->non_const_buffer_sizes()); }
uint32_t Plan::buffer_bytes(uint32_t buffer) const {
  return static_cast<uint32_t>(item(*plan_->non_const_buffer_sizes(), buffer));
}

[[gnu::flatten]] Error Plan::tensor(Verifier& verifier, const fb::Tensor& table, Tensor& shape,
                                    TensorPlace& place) const {
  const Fields found(&table);
  RT_TRY(check_features(found));
  const auto type = static_cast<ScalarType>(found.number<int8_t>(fb::Tensor::VT_SCALAR_TYPE));
  const uint32_t bytes_per_element = element_bytes(type);
  if (bytes_per_element == 0) return Error::kScalarTypeUnsupported;
  const std::span sizes = items<int32_t>(found.target(fb::Tensor::VT_SIZES));
  const std::span dim_order = items<uint8_t>(found.target(fb::Tensor::VT_DIM_ORDER));
  uint32_t numel = 0;
  RT_TRY(check_shape(sizes, dim_order, bytes_per_element, numel));
  const uint32_t nbytes = numel * bytes_per_element;

  place = {};
  const auto constant_index = found.number<uint32_t>(fb::Tensor::VT_DATA_BUFFER_IDX);
  if (const std::byte* allocation = found.target(fb::Tensor::VT_ALLOCATION_INFO)) {
    if (constant_index != 0) return Error::kMutableStateUnsupported;
    const Fields planned(allocation);
    place.buffer = planned.number<uint32_t>(fb::AllocationDetails::VT_MEMORY_ID);
    place.offset_bytes = planned.number<uint32_t>(fb::AllocationDetails::VT_MEMORY_OFFSET_LOW);
    if (place.buffer == 0 || place.buffer >= buffer_end()) return Error::kIndexOutOfRange;
    const uint32_t have = buffer_bytes(place.buffer);
    if (planned.number<uint32_t>(fb::AllocationDetails::VT_MEMORY_OFFSET_HIGH) != 0 ||
        place.offset_bytes > have || nbytes > have - place.offset_bytes) {
      return Error::kTensorOutOfBounds;
    }
    // Planned buffers start at multiples of 16.
    if (place.offset_bytes % bytes_per_element != 0) return Error::kTensorMisaligned;
  } else {
    if (constant_index == 0) return Error::kTensorUnplanned;
    RT_TRY(constant(verifier, constant_index, nbytes, place.constant));
    if (reinterpret_cast<uintptr_t>(place.constant) % bytes_per_element != 0) {
      return Error::kTensorMisaligned;
    }
  }
  // Never written: no kernel takes a constant tensor as its out argument (Args::match).
  shape = Tensor(type, sizes, dim_order.data(), numel, const_cast<std::byte*>(place.constant),
                 place.constant != nullptr);
  return Error::kOk;
}

Error Plan::constant(Verifier& verifier, uint32_t index, uint32_t nbytes,
                     const std::byte*& data) const {
  const fb::SubsegmentOffsets* offsets = program_->constant_segment();
  if (offsets == nullptr || length(offsets->offsets()) == 0) {
    // Programs of before September 2024, or exported with extract_constant_segment=False.
    if (program_->constant_buffer() == nullptr || index >= program_->constant_buffer()->size()) {
      return Error::kIndexOutOfRange;
    }
    if (!verifier.entry_fits(program_->constant_buffer(), index, Shape::kBuffer)) {
      return Error::kProgramCorrupt;
    }
    const auto* storage = program_->constant_buffer()->Get(index)->storage();
    if (length(storage) < nbytes) return Error::kTensorOutOfBounds;
    // An empty constant may have no storage, but is a constant all the same.
    data = storage == nullptr ? file_.data() : reinterpret_cast<const std::byte*>(storage->data());
    return Error::kOk;
  }
  if (index >= offsets->offsets()->size() ||
      offsets->segment_index() >=
          (program_->segments() == nullptr ? 0U : program_->segments()->size())) {
    return Error::kIndexOutOfRange;
  }
  const fb::DataSegment& segment = *program_->segments()->Get(offsets->segment_index());
  const uint64_t file_rest = file_.size() - segments_begin_;
  if (segment.offset() > file_rest || segment.size() > file_rest - segment.offset()) {
    return Error::kTensorOutOfBounds;
  }
  const uint64_t offset = item(*offsets->offsets(), index);
  if (offset > segment.size() || nbytes > segment.size() - offset) {
    return Error::kTensorOutOfBounds;
  }
  // All three are at most the file's size by now.
  data = file_.data() + static_cast<size_t>(segments_begin_ + segment.offset() + offset);
  return Error::kOk;
}

}  // namespace rt::pte
