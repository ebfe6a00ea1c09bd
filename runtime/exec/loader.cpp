#include "runtime/exec/loader.hpp"

#include <cstring>
#include <limits>
#include <new>

#include "program_generated.h"

namespace rt {
namespace {

namespace fb = ::executorch_flatbuffer;

constexpr uint64_t kAlignment = 16;
// A program has hundreds of these; the figures in docs/runtime.md count on it.
static_assert(sizeof(void*) != 4 || (sizeof(Tensor) == 20 && sizeof(ValueSlot) == 4));
// What the file omits: a double of 0, a list of nothing.
constexpr double kZero = 0.0;
constexpr std::byte kEmptyList[sizeof(uint32_t)] = {};

constexpr uint64_t align(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

uint32_t clamp_to_u32(uint64_t bytes) {
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(bytes < kMax ? bytes : kMax);
}

const flatbuffers::Vector<int32_t>* tensor_indices(const fb::EValue& value) {
  if (const auto* list = value.val_as_TensorList()) return list->items();
  if (const auto* list = value.val_as_OptionalTensorList()) return list->items();
  return nullptr;
}

// Calls `use(index)` for each value that an instruction names, itself or in a list of tensors, and
// for inputs and outputs. Indices in lists that lead nowhere are left out: Args::match finds them.
template <typename Use>
void for_each_used(const pte::Plan& plan, Use use) {
  const auto& values = *plan.table()->values();
  for (const int32_t value : plan.inputs()) use(static_cast<uint32_t>(value));
  for (const int32_t value : plan.outputs()) use(static_cast<uint32_t>(value));
  const uint32_t count = plan.instruction_count();
  for (uint32_t i = 0; i < count; ++i) {
    const pte::Instruction instruction = plan.instruction(i);
    for (uint32_t k = 0; k < instruction.argument_count; ++k) {
      const auto argument = static_cast<uint32_t>(instruction.arguments[k]);
      use(argument);
      const auto* items = tensor_indices(*values.Get(argument));
      for (uint32_t n = 0; items != nullptr && n < items->size(); ++n) {
        const auto item = static_cast<uint32_t>(items->Get(n));
        if (item < values.size()) use(item);
      }
    }
  }
}

uint64_t method_bytes(const pte::Plan& plan, uint32_t tensor_count) {
  return uint64_t{tensor_count} * sizeof(Tensor) +
         uint64_t{plan.value_count()} * (sizeof(ValueSlot) + sizeof(ValueKind)) +
         uint64_t{plan.operator_count()} * sizeof(const Kernel*);
}

}  // namespace

void describe_operator(const pte::Plan& plan, uint32_t operator_index, Failure& why) {
  const pte::OperatorName op = plan.operator_name(operator_index);
  why.operator_name = op.name.data();
  why.operator_name_bytes = static_cast<uint32_t>(op.name.size());
  why.operator_overload = op.overload.data();
  why.operator_overload_bytes = static_cast<uint32_t>(op.overload.size());
}

Error Method::Loader::load(std::span<const std::byte> pte, std::string_view name) {
  RT_TRY(pte::open(pte, name, method_.plan_));
  RT_TRY(method_.plan_.check(why_.instruction));
  RT_TRY(check_operators());

  const uint32_t tensor_count = count_tensors();
  const Layout layout = lay_out(tensor_count);
  const uint64_t pool_bytes = layout.method_end - layout.method_begin;
  if (layout.method_end <= arena_.size()) {
    planned_ = arena_.data() + layout.planned_begin;
    place_arrays(arena_.data() + layout.method_begin, tensor_count);
  } else if (layout.planned_begin <= arena_.size() &&
             pool_bytes <= arena_.size() - layout.planned_begin) {
    // Too small, but the kernels can be asked for their needs before that is reported.
    place_arrays(arena_.data() + layout.planned_begin, tensor_count);
  } else {
    return finish(layout, 0);
  }
  RT_TRY(read_values());
  RT_TRY(check_boundary());
  uint32_t temporary_bytes = 0;
  RT_TRY(prepare(temporary_bytes));
  return finish(layout, temporary_bytes);
}

Error Method::Loader::check_operators() {
  const uint32_t count = method_.plan_.instruction_count();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = method_.plan_.instruction(i).operator_index;
    const pte::OperatorName op = method_.plan_.operator_name(index);
    if (find_kernel(op.name, op.overload) == nullptr) {
      why_.instruction = static_cast<int32_t>(i);
      describe_operator(method_.plan_, index, why_);
      return Error::kOperatorMissing;
    }
  }
  return Error::kOk;
}

// Many tensors of a program are left over from its lowering; only those in use take memory.
// Counts before there is memory to mark them in: in passes over the instructions, each for as many
// values as a small bitmap holds, so nearly always one.
uint32_t Method::Loader::count_tensors() const {
  constexpr uint32_t kBits = 2048;
  const auto* values = method_.plan_.table()->values();
  uint32_t tensors = 0;
  for (uint64_t first = 0; first < method_.plan_.value_count(); first += kBits) {
    uint32_t seen[kBits / 32] = {};
    for_each_used(method_.plan_, [&](uint32_t value) {
      if (value < first || value - first >= kBits) return;
      const uint32_t bit = static_cast<uint32_t>(value - first);
      if ((seen[bit / 32] >> bit % 32 & 1U) != 0) return;
      seen[bit / 32] |= 1U << bit % 32;
      tensors += values->Get(value)->val_type() == fb::KernelTypes::Tensor ? 1 : 0;
    });
  }
  return tensors;
}

Method::Loader::Layout Method::Loader::lay_out(uint32_t tensor_count) const {
  const uint64_t address = reinterpret_cast<uintptr_t>(arena_.data());
  Layout layout = {};
  layout.planned_begin = align(address) - address;
  layout.method_begin = layout.planned_begin;
  for (uint32_t i = 1; i < method_.plan_.buffer_end(); ++i) {
    layout.method_begin += align(method_.plan_.buffer_bytes(i));
  }
  layout.method_end = layout.method_begin + method_bytes(method_.plan_, tensor_count);
  return layout;
}

void Method::Loader::place_arrays(std::byte* pool, uint32_t tensor_count) {
  const uint32_t values = method_.plan_.value_count();
  const uint32_t operators = method_.plan_.operator_count();
  // From the strictest alignment to the weakest, so that there are no gaps.
  static_assert(alignof(Tensor) >= alignof(ValueSlot) && sizeof(Tensor) % alignof(ValueSlot) == 0);
  static_assert(alignof(ValueSlot) >= alignof(Kernel*) &&
                sizeof(ValueSlot) % alignof(Kernel*) == 0);
  next_tensor_ = reinterpret_cast<Tensor*>(pool);
  method_.slots_ = reinterpret_cast<ValueSlot*>(pool + tensor_count * sizeof(Tensor));
  method_.kernels_ = reinterpret_cast<const Kernel**>(method_.slots_ + values);
  method_.kinds_ = reinterpret_cast<ValueKind*>(method_.kernels_ + operators);
  for (uint32_t i = 0; i < values; ++i) {
    method_.slots_[i].integer = 0;
    method_.kinds_[i] = ValueKind::kUnused;
  }
  for (uint32_t i = 0; i < operators; ++i) method_.kernels_[i] = nullptr;
}

Error Method::Loader::read_values() {
  // Marks what is used; read_value replaces the mark.
  for_each_used(method_.plan_, [&](uint32_t value) { method_.kinds_[value] = ValueKind::kOther; });
  const auto* values = method_.plan_.table()->values();
  for (uint32_t i = 0; i < method_.plan_.value_count(); ++i) {
    if (const Error error = read_value(*values->Get(i), i); error != Error::kOk) {
      why_.value = static_cast<int32_t>(i);
      return error;
    }
  }
  return Error::kOk;
}

Error Method::Loader::read_value(const fb::EValue& value, uint32_t i) {
  ValueSlot& slot = method_.slots_[i];
  ValueKind& kind = method_.kinds_[i];
  if (value.val_type() == fb::KernelTypes::Tensor && kind == ValueKind::kUnused) return Error::kOk;
  if (value.val() == nullptr && value.val_type() != fb::KernelTypes::Null) {
    return Error::kProgramCorrupt;
  }
  switch (value.val_type()) {
    case fb::KernelTypes::Null:
      kind = ValueKind::kNone;
      break;
    case fb::KernelTypes::Int: {
      const int64_t wide = value.val_as_Int()->int_val();
      constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
      constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
      slot.integer = static_cast<int32_t>(wide < kMin ? kMin : (wide > kMax ? kMax : wide));
      kind = slot.integer == wide ? ValueKind::kInt : ValueKind::kWideInt;
      break;
    }
    case fb::KernelTypes::Bool:
      slot.integer = value.val_as_Bool()->bool_val() ? 1 : 0;
      kind = ValueKind::kBool;
      break;
    case fb::KernelTypes::Double: {
      // Generated tables hide their base class, which alone tells where a field lies.
      const auto* table = static_cast<const flatbuffers::Table*>(value.val());
      const uint8_t* in_place = table->GetAddressOf(fb::Double::VT_DOUBLE_VAL);
      slot.real = in_place == nullptr ? &kZero : reinterpret_cast<const double*>(in_place);
      kind = ValueKind::kDouble;
      break;
    }
    case fb::KernelTypes::IntList: {
      const auto* items = value.val_as_IntList()->items();
      slot.list = {items == nullptr ? kEmptyList : reinterpret_cast<const std::byte*>(items)};
      kind = ValueKind::kIntList;
      break;
    }
    case fb::KernelTypes::TensorList:
    case fb::KernelTypes::OptionalTensorList: {
      const auto* items = tensor_indices(value);
      slot.tensors = {items == nullptr ? kEmptyList : reinterpret_cast<const std::byte*>(items)};
      kind = ValueKind::kTensorList;
      break;
    }
    case fb::KernelTypes::DoubleList: {
      const auto* items = value.val_as_DoubleList()->items();
      slot.doubles = {items == nullptr ? kEmptyList : reinterpret_cast<const std::byte*>(items)};
      kind = ValueKind::kDoubleList;
      break;
    }
    case fb::KernelTypes::String: {
      const auto* text = value.val_as_String()->string_val();
      slot.text = {text == nullptr ? kEmptyList : reinterpret_cast<const std::byte*>(text)};
      kind = ValueKind::kString;
      break;
    }
    case fb::KernelTypes::Tensor:
      slot.tensor = new (next_tensor_++) Tensor();
      RT_TRY(read_tensor(*value.val_as_Tensor(), *slot.tensor));
      kind = ValueKind::kTensor;
      break;
    default:
      kind = ValueKind::kOther;
      break;
  }
  return Error::kOk;
}

Error Method::Loader::read_tensor(const fb::Tensor& table, Tensor& out) const {
  pte::TensorPlace place = {};
  RT_TRY(method_.plan_.tensor(table, out, place));
  if (place.constant != nullptr || planned_ == nullptr) return Error::kOk;
  uint64_t begin = place.offset_bytes;
  for (uint32_t i = 1; i < place.buffer; ++i) begin += align(method_.plan_.buffer_bytes(i));
  out.place(planned_ + begin);
  return Error::kOk;
}

Error Method::Loader::check_boundary() {
  for (const int32_t value : method_.plan_.inputs()) {
    const ValueKind kind = method_.kinds_[value];
    const bool fixed = kind == ValueKind::kInt || kind == ValueKind::kBool ||
                       kind == ValueKind::kDouble || kind == ValueKind::kNone;
    if (fixed) continue;
    if (kind != ValueKind::kTensor || method_.slots_[value].tensor->is_constant()) {
      why_.value = value;
      return Error::kInputUnsupported;
    }
  }
  for (const int32_t value : method_.plan_.outputs()) {
    if (method_.kinds_[value] != ValueKind::kTensor) {
      why_.value = value;
      return Error::kOutputUnsupported;
    }
  }
  return Error::kOk;
}

Error Method::Loader::prepare(uint32_t& temporary_bytes) {
  const pte::Plan& plan = method_.plan_;
  for (uint32_t i = 0; i < plan.instruction_count(); ++i) {
    const pte::Instruction instruction = plan.instruction(i);
    const Kernel*& kernel = method_.kernels_[instruction.operator_index];
    if (kernel == nullptr) {
      const pte::OperatorName op = plan.operator_name(instruction.operator_index);
      kernel = find_kernel(op.name, op.overload);
    }
    Args args(method_.values(), instruction.arguments, instruction.argument_count);
    Needs needs;
    if (const Error error = kernel->prepare(args, needs); error != Error::kOk) {
      why_.instruction = static_cast<int32_t>(i);
      why_.value = args.refused_value();
      describe_operator(plan, instruction.operator_index, why_);
      return error;
    }
    if (needs.temporary_bytes > temporary_bytes) temporary_bytes = needs.temporary_bytes;
  }
  return Error::kOk;
}

Error Method::Loader::finish(const Layout& layout, uint32_t temporary_bytes) {
  // The temporary pool is aligned too; without one, nothing follows the method pool.
  const uint64_t address = reinterpret_cast<uintptr_t>(arena_.data());
  const uint64_t temporary_begin = align(address + layout.method_end) - address;
  const uint64_t need =
      temporary_bytes == 0 ? layout.method_end : temporary_begin + temporary_bytes;
  if (need > arena_.size()) {
    why_.have_bytes = clamp_to_u32(arena_.size());
    why_.need_bytes = clamp_to_u32(need);
    return Error::kArenaTooSmall;
  }
  if (temporary_bytes != 0) {
    method_.temporary_ = arena_.subspan(static_cast<size_t>(temporary_begin), temporary_bytes);
  }
  method_.memory_ = {static_cast<uint32_t>(layout.method_begin - layout.planned_begin),
                     static_cast<uint32_t>(layout.method_end - layout.method_begin),
                     temporary_bytes, clamp_to_u32(arena_.size()), clamp_to_u32(need)};
  return Error::kOk;
}

}  // namespace rt
