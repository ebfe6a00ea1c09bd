#include "runtime/exec/method.hpp"

#include "runtime/exec/loader.hpp"

namespace rt {

Error Method::load(std::span<const std::byte> pte, std::string_view name,
                   std::span<std::byte> arena, Method& out, Failure& why) {
  out = Method();
  why = Failure();
  Method method;
  why.error = Loader(method, arena, why).load(pte, name);
  if (why.error == Error::kOk) out = method;
  return why.error;
}

uint32_t Method::input_count() const {
  uint32_t count = 0;
  for (const int32_t value : plan_.inputs()) count += kinds_[value] == ValueKind::kTensor ? 1 : 0;
  return count;
}

Tensor& Method::input(uint32_t i) {
  uint32_t at = 0;
  for (const int32_t* value = plan_.inputs().data();; ++value) {
    if (kinds_[*value] == ValueKind::kTensor && at++ == i) return *slots_[*value].tensor;
  }
}

Error Method::execute(Failure& why, const InstructionHook* hook) {
  why = Failure();
  if (slots_ == nullptr) return why.error = Error::kNotLoaded;
  const uint32_t count = plan_.instruction_count();
  const ValueTable table = values();
  for (uint32_t i = 0; i < count; ++i) {
    const pte::Instruction instruction = plan_.instruction(i);
    const Args args(table, instruction.arguments, instruction.argument_count);
    if (hook != nullptr && hook->before != nullptr) hook->before(hook->context, i);
    if (!args.writes_nothing()) {
      why.error = kernels_[instruction.operator_index]->run(args, temporary_);
    }
    if (hook != nullptr && hook->after != nullptr) hook->after(hook->context, i);
    if (why.error != Error::kOk) {
      why.instruction = static_cast<int32_t>(i);
      describe_operator(plan_, instruction.operator_index, why);
      return why.error;
    }
  }
  return Error::kOk;
}

}  // namespace rt
