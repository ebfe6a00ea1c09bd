#include "runtime/exec/laid.hpp"

#include <bit>
#include <new>

static_assert(std::endian::native == std::endian::little);

namespace rt {
namespace {

// Of a tensor's place: it lies in the program, not in the planned buffers.
constexpr uint32_t kConstant = uint32_t{1} << 31;

}  // namespace

Error LaidMethod::load(const std::byte* program, const Tables& tables, std::span<std::byte> arena) {
  const auto skew =
      static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(arena.data()) % kArenaAlignment);
  const uint32_t slots_bytes = tables.value_count * static_cast<uint32_t>(sizeof(ValueSlot));
  const uint32_t method_bytes =
      slots_bytes + tables.tensor_count * static_cast<uint32_t>(sizeof(Tensor));
  // The temporary pool is aligned too; without one, nothing follows the method's.
  uint32_t needed = skew + tables.planned_bytes + method_bytes;
  if (tables.temporary_bytes != 0) {
    needed = skew + static_cast<uint32_t>(align(needed - skew)) + tables.temporary_bytes;
  }
  memory_ = {tables.planned_bytes, method_bytes, tables.temporary_bytes,
             static_cast<uint32_t>(arena.size()), needed};
  if (needed > arena.size()) return Error::kArenaTooSmall;

  std::byte* const planned = arena.data() + skew;
  std::byte* const pool = planned + tables.planned_bytes;
  slots_ = reinterpret_cast<ValueSlot*>(pool);
  tensors_ = reinterpret_cast<Tensor*>(pool + slots_bytes);
  temporary_ = arena.subspan(needed - tables.temporary_bytes, tables.temporary_bytes);

  program_ = program;
  tables_ = &tables;
  calls_ = reinterpret_cast<const Call*>(&tables + 1);
  const auto* const shapes = reinterpret_cast<const Shape*>(calls_ + tables.instruction_count);
  const auto* const places = reinterpret_cast<const uint32_t*>(shapes + tables.shape_count);
  const uint32_t* const words = places + tables.tensor_count;
  const auto* const shape_of = reinterpret_cast<const uint16_t*>(words + tables.word_count);
  inputs_ = shape_of + tables.tensor_count;
  kinds_ = reinterpret_cast<const ValueKind*>(inputs_ + tables.input_count + tables.output_count);
  place_tensors(shapes, places, shape_of, planned);
  fill_slots(words);
  return Error::kOk;
}

inline void LaidMethod::place_tensors(const Shape* shapes, const uint32_t* places,
                                      const uint16_t* shape_of, std::byte* planned) const {
  for (Tensor* tensor = tensors_; tensor != tensors_ + tables_->tensor_count; ++tensor) {
    const Shape& shape = shapes[*shape_of++];
    const uint32_t place = *places++;
    const bool constant = (place & kConstant) != 0;
    // Never written: no kernel takes a constant tensor as its out argument (Args::match).
    std::byte* const data =
        constant ? const_cast<std::byte*>(program_) + (place - kConstant) : planned + place;
    new (tensor) Tensor(static_cast<ScalarType>(shape.type),
                        {reinterpret_cast<const int32_t*>(program_ + shape.sizes), shape.rank},
                        reinterpret_cast<const uint8_t*>(program_ + shape.dim_order), shape.numel,
                        data, constant);
  }
}

inline void LaidMethod::fill_slots(const uint32_t* words) const {
  Tensor* tensor = tensors_;
  const std::byte* const program = program_;
  ValueSlot* slot = slots_;
  const ValueKind* const end = kinds_ + tables_->value_count;
  for (const ValueKind* kind = kinds_; kind != end; ++kind, ++slot) {
    switch (*kind) {
      case ValueKind::kInt:
      case ValueKind::kWideInt:
      case ValueKind::kBool:
        slot->integer = static_cast<int32_t>(*words++);
        break;
      case ValueKind::kTensor:
        slot->tensor = tensor++;
        break;
      case ValueKind::kDouble:
        slot->real = reinterpret_cast<const double*>(program + *words++);
        break;
      case ValueKind::kIntList:
        slot->list = {program + *words++};
        break;
      case ValueKind::kTensorList:
        slot->tensors = {program + *words++};
        break;
      case ValueKind::kDoubleList:
        slot->doubles = {program + *words++};
        break;
      case ValueKind::kString:
        slot->text = {program + *words++};
        break;
      case ValueKind::kUnused:
      case ValueKind::kNone:
      case ValueKind::kOther:
        break;
    }
  }
}

Error LaidMethod::execute() const {
  const uint32_t count = instruction_count();
  const ValueTable table = values();
  const Kernel* const kernels = all_kernels().data();
  for (uint32_t i = 0; i < count; ++i) {
    const std::span<const int32_t> indices = argument_values(i);
    const Args args(table, indices.data(), static_cast<uint32_t>(indices.size()));
    if (!args.writes_nothing()) RT_TRY(kernels[calls_[i].kernel].run(args, temporary_));
  }
  return Error::kOk;
}

}  // namespace rt
