// The engine over runtime/.
#include "firmware/app/engine.hpp"
#include "runtime/exec/method.hpp"

namespace fw::engine {
namespace {

constinit rt::Method method;

// The name with its overload, as kernels are registered; the program has them apart.
constexpr size_t kNameBytes = 96;
char operator_name[kNameBytes];

std::string_view join_name(const rt::Failure& why) {
  size_t length = 0;
  const auto add = [&](const char* text, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes && length < kNameBytes; ++i) operator_name[length++] = text[i];
  };
  if (why.operator_name == nullptr) return {};
  add(why.operator_name, why.operator_name_bytes);
  if (why.operator_overload_bytes != 0) {
    add(".", 1);
    add(why.operator_overload, why.operator_overload_bytes);
  }
  return {operator_name, length};
}

bool refused(rt::Error error, const rt::Failure& from, Refusal& why) {
  if (error == rt::Error::kOk) return false;
  why = {.code = rt::error_name(error),
         .instruction = from.instruction,
         .value = from.value,
         .operator_name = join_name(from),
         .have_bytes = from.have_bytes,
         .need_bytes = from.need_bytes};
  return true;
}

}  // namespace

std::string_view name() { return "lab"; }
std::string_view version() { return "1"; }

bool load(std::span<const std::byte> program, std::string_view name, std::span<std::byte> arena,
          Refusal& why) {
  rt::Failure failure;
  return !refused(rt::Method::load(program, name, arena, method, failure), failure, why);
}

uint32_t instruction_count() { return method.instruction_count(); }

uint32_t input_count() { return method.input_count(); }
std::span<std::byte> input(uint32_t i) {
  rt::Tensor& tensor = method.input(i);
  return {tensor.data(), tensor.nbytes()};
}

uint32_t output_count() { return method.output_count(); }
std::span<const std::byte> output(uint32_t i) {
  const rt::Tensor& tensor = method.output(i);
  return {tensor.data(), tensor.nbytes()};
}

std::span<std::byte> output_memory(uint32_t i) {
  rt::Tensor& tensor = method.output(i);
  if (tensor.is_constant()) return {};
  return {tensor.data(), tensor.nbytes()};
}

std::span<const std::byte> result(uint32_t instruction) {
  const rt::Tensor* tensor = method.result(instruction);
  if (tensor == nullptr) return {};
  return {tensor->data(), tensor->nbytes()};
}

bool execute(const Hook* hook, Refusal& why) {
  rt::Failure failure;
  rt::InstructionHook inner{};
  if (hook != nullptr) inner = {hook->before, hook->after, hook->context};
  return !refused(method.execute(failure, hook != nullptr ? &inner : nullptr), failure, why);
}

Memory memory() {
  const rt::MemoryUse use = method.memory();
  return {use.planned_bytes, use.method_bytes, use.temporary_bytes, use.arena_bytes,
          use.needed_bytes};
}

}  // namespace fw::engine
