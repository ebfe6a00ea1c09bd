#include "runtime/exec/loader.hpp"

#include <limits>
#include <new>

#include "runtime/exec/pool.hpp"

namespace rt {
namespace {

// A program has hundreds of these; the figures in docs/runtime.md count on it.
static_assert(sizeof(void*) != 4 || (sizeof(Tensor) == 20 && sizeof(ValueSlot) == 4));

// What loading may take beyond a fixed time for each value that the program names, in items that
// are looked at: of lists, once each time that one is named; of buffers before a tensor's; of
// constants that kernels check. docs/robustness.md has what it bounds.
constexpr uint64_t kStepsAByte = 4;

uint32_t clamp_to_u32(uint64_t bytes) {
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(bytes < kMax ? bytes : kMax);
}

const flatbuffers::Vector<int32_t>* tensor_indices(const fb::EValue& value) {
  if (const auto* list = value.val_as_TensorList()) return list->items();
  if (const auto* list = value.val_as_OptionalTensorList()) return list->items();
  return nullptr;
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
  steps_left_ = kStepsAByte * pte.size();
  RT_TRY(pte::open(pte, name, verifier_, method_.plan_));
  RT_TRY(method_.plan_.check(verifier_, why_.instruction));

  const Layout layout = lay_out();
  const uint32_t most = method_.plan_.value_count();
  if (layout.method_end(most) <= arena_.size()) {  // even if every value were a tensor
    planned_ = arena_.data() + layout.planned_begin;
    place_arrays(arena_.data() + layout.method_begin, most);
  } else {
    RT_TRY(check_operators());
    uint32_t count = 0;
    RT_TRY(count_tensors(count));
    const uint64_t pool_bytes = layout.method_end(count) - layout.method_begin;
    if (layout.method_end(count) <= arena_.size()) {
      planned_ = arena_.data() + layout.planned_begin;
      place_arrays(arena_.data() + layout.method_begin, count);
    } else if (layout.planned_begin <= arena_.size() &&
               pool_bytes <= arena_.size() - layout.planned_begin) {
      // Too small, but the kernels can be asked for their needs before that is reported.
      place_arrays(arena_.data() + layout.planned_begin, count);
    } else {
      tensor_count_ = count;
      return finish(layout, 0);
    }
  }
  RT_TRY(find_kernels());
  RT_TRY(read_values());
  RT_TRY(check_boundary());
  uint32_t temporary_bytes = 0;
  RT_TRY(prepare(temporary_bytes));
  return finish(layout, temporary_bytes);
}

// Before there is memory to keep the kernels in.
Error Method::Loader::check_operators() {
  const uint32_t count = method_.plan_.instruction_count();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = method_.plan_.instruction(i).operator_index;
    const pte::OperatorName op = method_.plan_.operator_name(index);
    if (find_kernel(op.name, op.overload) == nullptr) return refuse_operator(i, index);
  }
  return Error::kOk;
}

Error Method::Loader::find_kernels() {
  const uint32_t count = method_.plan_.instruction_count();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = method_.plan_.instruction(i).operator_index;
    if (method_.kernels_[index] != nullptr) continue;
    const pte::OperatorName op = method_.plan_.operator_name(index);
    method_.kernels_[index] = find_kernel(op.name, op.overload);
    if (method_.kernels_[index] == nullptr) return refuse_operator(i, index);
  }
  return Error::kOk;
}

Error Method::Loader::refuse_operator(uint32_t instruction, uint32_t operator_index) {
  why_.instruction = static_cast<int32_t>(instruction);
  describe_operator(method_.plan_, operator_index, why_);
  return Error::kOperatorMissing;
}

// Many tensors of a program are left over from its lowering; only those in use take memory. Where
// it is scarce, they are counted before there is any to mark them in: in passes over the
// instructions, each for as many values as a small bitmap holds, so nearly always one.
Error Method::Loader::count_tensors(uint32_t& count) {
  constexpr uint32_t kBits = 2048;
  const uint32_t values = method_.plan_.value_count();
  for (uint64_t first = 0; first < values; first += kBits) {
    uint32_t seen[kBits / 32] = {};
    const auto take = [&](uint32_t value) {
      if (value < first || value - first >= kBits) return Error::kOk;
      const uint32_t bit = static_cast<uint32_t>(value - first);
      if ((seen[bit / 32] >> bit % 32 & 1U) != 0) return Error::kOk;
      seen[bit / 32] |= 1U << bit % 32;
      const fb::EValue* found = method_.plan_.value(verifier_, value);
      if (found == nullptr) return corrupt(value);
      count += found->val_type() == fb::KernelTypes::Tensor ? 1 : 0;
      return Error::kOk;
    };
    const auto visit = [&](uint32_t named) {
      const fb::EValue* value = method_.plan_.value(verifier_, named);
      if (value == nullptr) return corrupt(named);
      const auto* items = tensor_indices(*value);
      Error error = take(named);
      if (error == Error::kOk && items != nullptr) error = spend(items->size());
      for (uint32_t n = 0; error == Error::kOk && items != nullptr && n < items->size(); ++n) {
        const auto item = static_cast<uint32_t>(items->Get(n));
        if (item < values) error = take(item);
      }
      return error;
    };
    RT_TRY(for_each_named(method_.plan_, visit));
  }
  return Error::kOk;
}

Error Method::Loader::corrupt(uint32_t value) {
  why_.value = static_cast<int32_t>(value);
  return Error::kProgramCorrupt;
}

Error Method::Loader::spend(uint32_t steps) {
  if (steps > steps_left_) return Error::kProgramTangled;
  steps_left_ -= steps;
  return Error::kOk;
}

Method::Loader::Layout Method::Loader::lay_out() const {
  const pte::Plan& plan = method_.plan_;
  const uint64_t address = reinterpret_cast<uintptr_t>(arena_.data());
  Layout layout = {};
  layout.planned_begin = align(address) - address;
  layout.method_begin = layout.planned_begin;
  layout.method_begin = layout.planned_begin + buffer_begin(plan, plan.buffer_end());
  layout.arrays_bytes = Pool::arrays_bytes(plan.value_count(), plan.operator_count());
  return layout;
}

void Method::Loader::place_arrays(std::byte* pool, uint32_t tensor_capacity) {
  const pte::Plan& plan = method_.plan_;
  const Pool made = Pool::at(pool, plan.value_count(), plan.operator_count());
  method_.slots_ = made.slots;
  method_.kernels_ = made.kernels;
  method_.kinds_ = made.kinds;
  tensors_ = made.tensors;
  tensor_capacity_ = tensor_capacity;
}

Error Method::Loader::read_values() {
  return for_each_named(method_.plan_, [this](uint32_t value) { return use(value); });
}

// Reads a value and the items of a list, unless that was done; the kernels look at a list's items
// each time that it is named. Items that lead nowhere are left
// out: Args::match finds them.
Error Method::Loader::use(uint32_t value) {
  const bool known = method_.kinds_[value] != ValueKind::kUnused;
  if (!known) RT_TRY(read(value, ValueKind::kTensor));
  const uint32_t count = method_.plan_.value_count();
  if (method_.kinds_[value] == ValueKind::kIntList) {
    const BoxedList list = method_.slots_[value].list;
    RT_TRY(spend(list.count()));
    if (known) return Error::kOk;
    for (uint32_t i = 0; i < list.count(); ++i) {
      const auto item = static_cast<uint64_t>(list.item(i));
      if (item < count) RT_TRY(read(static_cast<uint32_t>(item), ValueKind::kInt));
    }
  } else if (method_.kinds_[value] == ValueKind::kTensorList) {
    const TensorIndices list = method_.slots_[value].tensors;
    RT_TRY(spend(list.count()));
    if (known) return Error::kOk;
    for (uint32_t i = 0; i < list.count(); ++i) {
      const auto item = static_cast<uint32_t>(list.item(i));
      if (item < count) RT_TRY(read(item, ValueKind::kTensor));
    }
  }
  return Error::kOk;
}

// `most` is kTensor, or kInt where no tensor belongs: one is left out, as count_tensors does.
Error Method::Loader::read(uint32_t value, ValueKind most) {
  if (method_.kinds_[value] != ValueKind::kUnused) return Error::kOk;
  const fb::EValue* found = method_.plan_.value(verifier_, value);
  if (found == nullptr) return corrupt(value);
  if (found->val_type() == fb::KernelTypes::Tensor) {
    if (most != ValueKind::kTensor) return Error::kOk;
    if (tensor_count_ == tensor_capacity_) return corrupt(value);  // the passes disagree: a guard
  }
  const Error error = read_value(*found, value);
  if (error != Error::kOk) why_.value = static_cast<int32_t>(value);
  return error;
}

[[gnu::flatten]] Error Method::Loader::read_value(const fb::EValue& value, uint32_t i) {
  ValueSlot& slot = method_.slots_[i];
  ValueKind& kind = method_.kinds_[i];
  const pte::Fields found(&value);
  const auto type = static_cast<fb::KernelTypes>(found.number<uint8_t>(fb::EValue::VT_VAL_TYPE));
  const std::byte* const table = found.target(fb::EValue::VT_VAL);
  if (table == nullptr && type != fb::KernelTypes::Null) return Error::kProgramCorrupt;
  if (type == fb::KernelTypes::Int) {  // most are
    read_integer(table, slot, kind);
    return Error::kOk;
  }
  if (type != fb::KernelTypes::Tensor) {
    read_plain(value, slot, kind);
    return Error::kOk;
  }
  slot.tensor = new (tensors_ + tensor_count_++) Tensor();
  RT_TRY(read_tensor(*reinterpret_cast<const fb::Tensor*>(table), *slot.tensor));
  kind = ValueKind::kTensor;
  return Error::kOk;
}

Error Method::Loader::read_tensor(const fb::Tensor& table, Tensor& out) {
  pte::TensorPlace place = {};
  RT_TRY(method_.plan_.tensor(verifier_, table, out, place));
  if (place.constant != nullptr || planned_ == nullptr) return Error::kOk;
  out.place(planned_ + place.offset_bytes);
  if (place.buffer > 1) {
    RT_TRY(spend(place.buffer));
    out.place(out.data() + buffer_begin(method_.plan_, place.buffer));
  }
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
    const Kernel* const kernel = method_.kernels_[instruction.operator_index];
    Args args(method_.values(), instruction.arguments, instruction.argument_count);
    Needs needs;
    Error error = kernel->prepare(args, needs);
    if (error == Error::kOk) error = spend(needs.elements_read);
    if (error != Error::kOk) {
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
  const uint64_t method_end = layout.method_end(tensor_count_);
  const uint64_t temporary_begin = align(address + method_end) - address;
  const uint64_t need = temporary_bytes == 0 ? method_end : temporary_begin + temporary_bytes;
  if (need > arena_.size()) {
    why_.have_bytes = clamp_to_u32(arena_.size());
    why_.need_bytes = clamp_to_u32(need);
    return Error::kArenaTooSmall;
  }
  if (temporary_bytes != 0) {
    method_.temporary_ = arena_.subspan(static_cast<size_t>(temporary_begin), temporary_bytes);
  }
  method_.memory_ = {static_cast<uint32_t>(layout.method_begin - layout.planned_begin),
                     static_cast<uint32_t>(method_end - layout.method_begin), temporary_bytes,
                     clamp_to_u32(arena_.size()), clamp_to_u32(need)};
  return Error::kOk;
}

}  // namespace rt
