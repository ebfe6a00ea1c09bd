// The engine over runtime/.
#include "firmware/app/engine.hpp"
#include "runtime/exec/method.hpp"

namespace fw::engine {
namespace {

constinit rt::Method method;
constinit rt::Failure last;

bool refused(rt::Error error, Refusal& why) {
  if (error == rt::Error::kOk) return false;
  why = {.instruction = last.instruction,
         .value = last.value,
         .have_bytes = last.have_bytes,
         .need_bytes = last.need_bytes};
  return true;
}

}  // namespace

std::string_view refusal_code() { return rt::error_name(last.error); }

std::string_view refusal_operator() {
  // The name with its overload, as kernels are registered; the program has them apart.
  static char joined[96];
  size_t length = 0;
  const auto add = [&](const char* text, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes && length < sizeof joined; ++i) joined[length++] = text[i];
  };
  if (last.operator_name == nullptr) return {};
  add(last.operator_name, last.operator_name_bytes);
  if (last.operator_overload_bytes != 0) {
    add(".", 1);
    add(last.operator_overload, last.operator_overload_bytes);
  }
  return {joined, length};
}

std::string_view name() { return "lab"; }
std::string_view version() { return "1"; }

bool load(std::span<const std::byte> program, std::string_view name, std::span<std::byte> arena,
          Refusal& why) {
  return !refused(rt::Method::load(program, name, arena, method, last), why);
}

uint32_t instruction_count() { return method.instruction_count(); }

void for_each_input(void (*use)(void*, std::span<std::byte>), void* context) {
  method.for_each_input(
      [&](rt::Tensor& tensor) { use(context, {tensor.data(), tensor.nbytes()}); });
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

void for_each_argument(uint32_t instruction, void (*use)(void*, std::span<const std::byte>),
                       void* context) {
  const rt::Args arguments = method.arguments(instruction);
  const auto hand_on = [&](const rt::Tensor* tensor) {
    if (tensor != nullptr) use(context, {tensor->data(), tensor->nbytes()});
  };
  for (uint32_t i = 0; i < arguments.count(); ++i) {
    if (arguments.is_tensor(i)) hand_on(&arguments.tensor(i));
    if (!arguments.is_tensor_list(i)) continue;
    for (uint32_t k = 0; k < arguments.tensors(i).count(); ++k) hand_on(arguments.item(i, k));
  }
}

bool execute(const Hook* hook, Refusal& why) {
  rt::InstructionHook inner{};
  if (hook != nullptr) inner = {hook->before, hook->after, hook->context};
  return !refused(method.execute(last, hook != nullptr ? &inner : nullptr), why);
}

Memory memory() {
  const rt::MemoryUse use = method.memory();
  return {use.planned_bytes, use.method_bytes, use.temporary_bytes, use.arena_bytes,
          use.needed_bytes};
}

// Between the plan and the scratch, padding included: the scratch ends with what is needed.
Part fixed_memory() {
  const rt::MemoryUse use = method.memory();
  return {use.planned_bytes, use.needed_bytes - use.temporary_bytes - use.planned_bytes};
}

}  // namespace fw::engine
