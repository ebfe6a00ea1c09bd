// Loading of a program that was verified before: what the checked loader does (loader.cpp), without
// its checks. In an image that loads nothing else, neither those nor the kernels' own are linked.

#include <new>

#include "runtime/exec/method.hpp"
#include "runtime/exec/pool.hpp"

namespace rt {

using pte::Fields;

class Method::VerifiedLoader {
 public:
  // Lays the pool out from `begin`; planned buffers begin at `planned`.
  VerifiedLoader(Method& method, std::byte* begin, std::byte* planned);

  // Reads what the plan names. @return the pool's end
  const std::byte* read();
  // @return the first instruction whose operator has no kernel, -1 if there is none.
  int32_t find_kernels();

 private:
  // Flat, as every value passes through: -Os would make a call of each field's reader.
  [[gnu::flatten]] void use(uint32_t value);
  [[gnu::always_inline]] void read_one(uint32_t value, bool tensors);
  [[gnu::noinline, gnu::flatten]] void read_items(uint32_t value);
  [[gnu::noinline, gnu::flatten]] void read_tensor(const std::byte* table);
  const std::byte* constant(uint32_t index) const;

  Method& method_;
  Pool pool_;
  const std::byte* values_;  // offsets of their tables
  uint32_t value_count_;
  std::byte* planned_;
  const std::byte* offsets_ = nullptr;    // of the constants in their segment
  const std::byte* constants_ = nullptr;  // that segment; nullptr: they lie in the flatbuffer
};

Method::VerifiedLoader::VerifiedLoader(Method& method, std::byte* begin, std::byte* planned)
    : method_(method),
      pool_(Pool::at(begin, method.plan_.value_count(), method.plan_.operator_count())),
      values_(method.plan_.values()),
      value_count_(method.plan_.value_count()),
      planned_(planned) {
  method.slots_ = pool_.slots;
  method.kernels_ = pool_.kernels;
  method.kinds_ = pool_.kinds;
  const fb::Program& program = method.plan_.program();
  const fb::SubsegmentOffsets* segment = program.constant_segment();
  if (segment == nullptr || segment->offsets() == nullptr || segment->offsets()->size() == 0) {
    return;
  }
  offsets_ = reinterpret_cast<const std::byte*>(segment->offsets()->Data());
  constants_ =
      method.plan_.segments() + program.segments()->Get(segment->segment_index())->offset();
}

const std::byte* Method::VerifiedLoader::read() {
  static_cast<void>(for_each_named(method_.plan_, [this](uint32_t value) {
    use(value);
    return Error::kOk;
  }));
  return reinterpret_cast<const std::byte*>(pool_.tensors);
}

inline void Method::VerifiedLoader::use(uint32_t value) {
  if (pool_.kinds[value] != ValueKind::kUnused) return;
  read_one(value, true);
  const ValueKind kind = pool_.kinds[value];
  if (kind == ValueKind::kIntList || kind == ValueKind::kTensorList) read_items(value);
}

// Numbers come first: most values are. Without `tensors` one of those is left out.
inline void Method::VerifiedLoader::read_one(uint32_t value, bool tensors) {
  const std::byte* const table = Fields::follow(values_ + value * sizeof(uint32_t));
  const Fields found(table);
  ValueKind& kind = pool_.kinds[value];
  switch (static_cast<fb::KernelTypes>(found.number<uint8_t>(fb::EValue::VT_VAL_TYPE))) {
    case fb::KernelTypes::Int:
      read_integer(found.target(fb::EValue::VT_VAL), pool_.slots[value], kind);
      break;
    case fb::KernelTypes::Tensor:
      if (!tensors) break;
      kind = ValueKind::kTensor;
      pool_.slots[value].tensor = pool_.tensors;
      read_tensor(found.target(fb::EValue::VT_VAL));
      break;
    default:
      read_plain(*reinterpret_cast<const fb::EValue*>(table), pool_.slots[value], kind);
      break;
  }
}

// Items that lead nowhere, or among integers to tensors, are left out, as the checked loader does.
void Method::VerifiedLoader::read_items(uint32_t list) {
  const bool integers = pool_.kinds[list] == ValueKind::kIntList;
  const ValueSlot items = pool_.slots[list];
  for (uint32_t i = 0, count = items.list.count(); i < count; ++i) {
    const uint64_t item = integers ? static_cast<uint64_t>(items.list.item(i))
                                   : static_cast<uint32_t>(items.tensors.item(i));
    if (item >= value_count_) continue;
    const auto value = static_cast<uint32_t>(item);
    if (pool_.kinds[value] == ValueKind::kUnused) read_one(value, !integers);
  }
}

void Method::VerifiedLoader::read_tensor(const std::byte* table) {
  const Fields found(table);
  const std::byte* const sizes = found.target(fb::Tensor::VT_SIZES);
  const std::byte* const dim_order = found.target(fb::Tensor::VT_DIM_ORDER);
  const uint32_t rank = sizes == nullptr ? 0 : Fields::load<uint32_t>(sizes);
  const auto* const extents = reinterpret_cast<const int32_t*>(sizes + sizeof(uint32_t));
  uint32_t numel = 1;
  for (uint32_t i = 0; i < rank; ++i) numel *= static_cast<uint32_t>(extents[i]);
  const std::byte* const planned = found.target(fb::Tensor::VT_ALLOCATION_INFO);
  const std::byte* data = nullptr;
  if (planned == nullptr) {
    data = constant(found.number<uint32_t>(fb::Tensor::VT_DATA_BUFFER_IDX));
  } else {
    const Fields place(planned);
    const auto buffer = place.number<uint32_t>(fb::AllocationDetails::VT_MEMORY_ID);
    data = planned_ + place.number<uint32_t>(fb::AllocationDetails::VT_MEMORY_OFFSET_LOW);
    if (buffer > 1) data += buffer_begin(method_.plan_, buffer);
  }
  new (pool_.tensors++)
      Tensor(static_cast<ScalarType>(found.number<int8_t>(fb::Tensor::VT_SCALAR_TYPE)),
             {extents, rank}, reinterpret_cast<const uint8_t*>(dim_order + sizeof(uint32_t)), numel,
             const_cast<std::byte*>(data), planned == nullptr);
}

inline const std::byte* Method::VerifiedLoader::constant(uint32_t index) const {
  if (constants_ != nullptr) {
    return constants_ + Fields::load<uint32_t>(offsets_ + index * sizeof(uint64_t));
  }
  const auto* storage = method_.plan_.program().constant_buffer()->Get(index)->storage();
  return storage == nullptr ? method_.plan_.file()
                            : reinterpret_cast<const std::byte*>(storage->data());
}

int32_t Method::VerifiedLoader::find_kernels() {
  const pte::Plan& plan = method_.plan_;
  for (uint32_t i = 0; i < plan.instruction_count(); ++i) {
    const uint32_t index = plan.instruction(i).operator_index;
    if (method_.kernels_[index] != nullptr) continue;
    const pte::OperatorName op = plan.operator_name(index);
    method_.kernels_[index] = find_kernel(op.name, op.overload);
    if (method_.kernels_[index] == nullptr) return static_cast<int32_t>(i);
  }
  return -1;
}

Error Method::load_verified(std::span<const std::byte> pte, std::string_view name,
                            std::span<std::byte> arena, Verified verified, Method& out,
                            Failure& why) {
  out = Method();
  why = Failure();
  Method method;
  why.error = pte::open_verified(pte, name, method.plan_);
  if (why.error != Error::kOk) return why.error;
  // Of an arena that starts elsewhere, the bytes before a multiple of 16 are lost.
  const auto address = reinterpret_cast<uintptr_t>(arena.data());
  const auto skew = static_cast<uint32_t>(-address % kArenaAlignment);
  why.have_bytes = static_cast<uint32_t>(arena.size());
  why.need_bytes = verified.needed_bytes + skew;
  if (why.need_bytes > arena.size()) return why.error = Error::kArenaTooSmall;

  std::byte* const planned = arena.data() + skew;
  const auto planned_bytes =
      static_cast<uint32_t>(buffer_begin(method.plan_, method.plan_.buffer_end()));
  std::byte* const begin = planned + planned_bytes;
  VerifiedLoader loader(method, begin, planned);
  const std::byte* const end = loader.read();
  if (const int32_t missing = loader.find_kernels(); missing >= 0) {
    why.instruction = missing;
    return why.error = Error::kOperatorMissing;
  }
  method.temporary_ =
      arena.subspan(why.need_bytes - verified.temporary_bytes, verified.temporary_bytes);
  method.memory_ = {planned_bytes, static_cast<uint32_t>(end - begin), verified.temporary_bytes,
                    why.have_bytes, why.need_bytes};
  why = Failure();
  out = method;
  return Error::kOk;
}

}  // namespace rt
