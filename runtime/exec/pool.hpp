// The method pool: what a loaded method has of its values and operators, and how a value is read.
#pragma once

#include <cstring>
#include <limits>

#include "program_generated.h"
#include "runtime/core/kernel.hpp"
#include "runtime/core/value.hpp"
#include "runtime/exec/memory.hpp"
#include "runtime/pte/fields.hpp"
#include "runtime/pte/program.hpp"

namespace rt {

namespace fb = ::executorch_flatbuffer;

// What the file omits: a double of 0, a list of nothing.
inline constexpr double kZero = 0.0;
inline constexpr std::byte kEmptyList[sizeof(uint32_t)] = {};

// Arrays from the strictest alignment to the weakest, then a Tensor for each tensor in use.
struct Pool {
  ValueSlot* slots;        // one a value
  const Kernel** kernels;  // one an operator of the plan
  ValueKind* kinds;        // one a value
  Tensor* tensors;

  static uint64_t arrays_bytes(uint64_t values, uint64_t operators) {
    const uint64_t bytes =
        values * (sizeof(ValueSlot) + sizeof(ValueKind)) + operators * sizeof(const Kernel*);
    return (bytes + alignof(Tensor) - 1) / alignof(Tensor) * alignof(Tensor);
  }

  // Lays it out from `begin`, a multiple of 16; kinds are kUnused, what is unused has no slot.
  static Pool at(std::byte* begin, uint32_t values, uint32_t operators) {
    static_assert(alignof(ValueSlot) >= alignof(Tensor) && alignof(Kernel*) >= alignof(Tensor));
    Pool pool = {};
    pool.slots = reinterpret_cast<ValueSlot*>(begin);
    pool.kernels = reinterpret_cast<const Kernel**>(pool.slots + values);
    pool.kinds = reinterpret_cast<ValueKind*>(pool.kernels + operators);
    pool.tensors =
        reinterpret_cast<Tensor*>(begin + static_cast<size_t>(arrays_bytes(values, operators)));
    for (uint32_t i = 0; i < operators; ++i) pool.kernels[i] = nullptr;
    std::memset(pool.kinds, static_cast<int>(ValueKind::kUnused), values * sizeof(ValueKind));
    return pool;
  }
};

// Where a planned buffer begins, counted from the first.
[[gnu::noinline]] inline uint64_t buffer_begin(const pte::Plan& plan, uint32_t buffer) {
  uint64_t begin = 0;
  for (uint32_t i = 1; i < buffer; ++i) begin += align(plan.buffer_bytes(i));
  return begin;
}

// Lists that the file omits are empty.
template <typename T>
const std::byte* items_of(const flatbuffers::Vector<T>* items) {
  return items == nullptr ? kEmptyList : reinterpret_cast<const std::byte*>(items);
}

// @return the nearest integer of 32 bits.
inline int32_t narrow(int64_t wide) {
  const auto low = static_cast<int32_t>(wide);
  if (low == wide) return low;
  return wide < 0 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
}

// Reads an integer.
inline void read_integer(const std::byte* table, ValueSlot& slot, ValueKind& kind) {
  const auto wide = pte::Fields(table).number<int64_t>(fb::Int::VT_INT_VAL);
  slot.integer = narrow(wide);
  kind = slot.integer == wide ? ValueKind::kInt : ValueKind::kWideInt;
}

// Reads a value that is no tensor; its table is there unless it is a Null.
[[gnu::noinline]] inline void read_plain(const fb::EValue& value, ValueSlot& slot,
                                         ValueKind& kind) {
  switch (value.val_type()) {
    case fb::KernelTypes::Null:
      kind = ValueKind::kNone;
      break;
    case fb::KernelTypes::Int:
      read_integer(reinterpret_cast<const std::byte*>(value.val()), slot, kind);
      break;
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
    case fb::KernelTypes::IntList:
      slot.list = {items_of(value.val_as_IntList()->items())};
      kind = ValueKind::kIntList;
      break;
    case fb::KernelTypes::TensorList:
      slot.tensors = {items_of(value.val_as_TensorList()->items())};
      kind = ValueKind::kTensorList;
      break;
    case fb::KernelTypes::OptionalTensorList:
      slot.tensors = {items_of(value.val_as_OptionalTensorList()->items())};
      kind = ValueKind::kTensorList;
      break;
    case fb::KernelTypes::DoubleList:
      slot.doubles = {items_of(value.val_as_DoubleList()->items())};
      kind = ValueKind::kDoubleList;
      break;
    case fb::KernelTypes::String:
      slot.text = {items_of(value.val_as_String()->string_val())};
      kind = ValueKind::kString;
      break;
    default:
      kind = ValueKind::kOther;
      break;
  }
}

// Calls `use(index)` for each value that inputs, outputs and instructions name, until an error.
template <typename Use>
Error for_each_named(const pte::Plan& plan, Use use) {
  for (const int32_t value : plan.inputs()) RT_TRY(use(static_cast<uint32_t>(value)));
  for (const int32_t value : plan.outputs()) RT_TRY(use(static_cast<uint32_t>(value)));
  const uint32_t count = plan.instruction_count();
  for (uint32_t i = 0; i < count; ++i) {
    const pte::Instruction instruction = plan.instruction(i);
    for (uint32_t k = 0; k < instruction.argument_count; ++k) {
      RT_TRY(use(static_cast<uint32_t>(instruction.arguments[k])));
    }
  }
  return Error::kOk;
}

}  // namespace rt
