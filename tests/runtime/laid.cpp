#include "tests/runtime/laid.hpp"

#include <cstring>

namespace {

std::string at(const char* what, uint32_t i) { return std::string(what) + " " + std::to_string(i); }

// Whether two pointers lie equally far in their programs, or, where one of them leads to what the
// file leaves out (a zero, a list of nothing), both lead to `bytes` zeros.
bool same_place(const void* a, Home home_a, const void* b, Home home_b, size_t bytes) {
  const auto offset = [](const void* place, Home home) {
    return static_cast<const std::byte*>(place) - home.program;
  };
  const ptrdiff_t in_a = offset(a, home_a), in_b = offset(b, home_b);
  if (in_a >= 0 && static_cast<size_t>(in_a) < home_a.program_bytes) return in_a == in_b;
  static constexpr std::byte kZeros[sizeof(double)] = {};
  return std::memcmp(a, kZeros, bytes) == 0 && std::memcmp(b, kZeros, bytes) == 0;
}

bool same_tensor(const rt::Tensor& a, Home home_a, const rt::Tensor& b, Home home_b) {
  if (a.type() != b.type() || a.rank() != b.rank() || a.numel() != b.numel() ||
      a.is_constant() != b.is_constant() ||
      std::memcmp(a.sizes().data(), b.sizes().data(), a.rank() * sizeof(int32_t)) != 0 ||
      std::memcmp(a.dim_order().data(), b.dim_order().data(), a.rank()) != 0) {
    return false;
  }
  return a.is_constant() ? a.data() - home_a.program == b.data() - home_b.program
                         : a.data() - home_a.planned == b.data() - home_b.planned;
}

bool same_value(rt::ValueKind kind, const rt::ValueSlot& a, Home home_a, const rt::ValueSlot& b,
                Home home_b) {
  switch (kind) {
    case rt::ValueKind::kInt:
    case rt::ValueKind::kWideInt:
    case rt::ValueKind::kBool:
      return a.integer == b.integer;
    case rt::ValueKind::kTensor:
      return same_tensor(*a.tensor, home_a, *b.tensor, home_b);
    case rt::ValueKind::kDouble:
      return same_place(a.real, home_a, b.real, home_b, sizeof(double));
    case rt::ValueKind::kIntList:
      return same_place(a.list.count_then_items, home_a, b.list.count_then_items, home_b,
                        sizeof(uint32_t));
    case rt::ValueKind::kTensorList:
      return same_place(a.tensors.count_then_items, home_a, b.tensors.count_then_items, home_b,
                        sizeof(uint32_t));
    case rt::ValueKind::kDoubleList:
      return same_place(a.doubles.count_then_items, home_a, b.doubles.count_then_items, home_b,
                        sizeof(uint32_t));
    case rt::ValueKind::kString:
      return same_place(a.text.length_then_characters, home_a, b.text.length_then_characters,
                        home_b, sizeof(uint32_t));
    case rt::ValueKind::kUnused:
    case rt::ValueKind::kNone:
    case rt::ValueKind::kOther:
      return true;
  }
  return false;
}

}  // namespace

std::string difference(rt::Method& checked, Home checked_home, std::string_view name,
                       rt::LaidMethod& laid, Home laid_home) {
  const rt::ValueTable a = checked.values(), b = laid.values();
  if (a.count != b.count) return "values";
  for (uint32_t i = 0; i < a.count; ++i) {
    if (a.kinds[i] != b.kinds[i]) return at("kind of value", i);
    if (!same_value(a.kinds[i], a.slots[i], checked_home, b.slots[i], laid_home)) {
      return at("value", i);
    }
  }
  rt::pte::Verifier verifier;
  rt::pte::Plan plan;
  int32_t culprit = -1;
  if (rt::pte::open({checked_home.program, checked_home.program_bytes}, name, verifier, plan) !=
          rt::Error::kOk ||
      plan.check(verifier, culprit) != rt::Error::kOk) {
    return "the program";
  }
  if (plan.instruction_count() != laid.instruction_count()) return "instructions";
  for (uint32_t i = 0; i < plan.instruction_count(); ++i) {
    const rt::pte::Instruction instruction = plan.instruction(i);
    const rt::pte::OperatorName op = plan.operator_name(instruction.operator_index);
    if (rt::find_kernel(op.name, op.overload) != &laid.kernel(i)) return at("kernel of", i);
    const std::span<const int32_t> arguments = laid.argument_values(i);
    if (arguments.size() != instruction.argument_count ||
        std::memcmp(arguments.data(), instruction.arguments, arguments.size_bytes()) != 0) {
      return at("arguments of", i);
    }
  }
  if (checked.input_count() != laid.input_count()) return "inputs";
  if (checked.output_count() != laid.output_count()) return "outputs";
  const auto number = [](const rt::ValueTable& table, const rt::Tensor* tensor) {
    uint32_t i = 0;
    while (table.kinds[i] != rt::ValueKind::kTensor || table.slots[i].tensor != tensor) ++i;
    return i;
  };
  for (uint32_t i = 0; i < laid.input_count(); ++i) {
    if (number(a, &checked.input(i)) != number(b, &laid.input(i))) return at("input", i);
  }
  for (uint32_t i = 0; i < laid.output_count(); ++i) {
    if (number(a, &checked.output(i)) != number(b, &laid.output(i))) return at("output", i);
  }
  return {};
}
