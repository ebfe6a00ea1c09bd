// A method of a .pte, loaded into an arena and executed in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/core/error.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/core/tensor.hpp"
#include "runtime/core/value.hpp"
#include "runtime/exec/memory.hpp"
#include "runtime/pte/program.hpp"

namespace rt {

// Called around each instruction of the program; either function may be null.
struct InstructionHook {
  void (*before)(void* context, uint32_t instruction);
  void (*after)(void* context, uint32_t instruction);
  void* context;
};

// What is known of a failed load or execute.
struct Failure {
  Error error = Error::kOk;
  int32_t instruction = -1;  // of the program, -1 if none
  int32_t value = -1;        // index in the plan's values, -1 if none
  const char* operator_name =
      nullptr;  // `cortex_m::quantized_add`; in the .pte, not NUL-terminated
  uint32_t operator_name_bytes = 0;
  const char* operator_overload = nullptr;  // `out`; likewise
  uint32_t operator_overload_bytes = 0;
  uint32_t have_bytes = 0, need_bytes = 0;  // 0 if they do not apply
};

// Owns nothing: program and arena must outlive it. One thread.
class Method {
 public:
  // Verifies the program, lays out the arena, prepares each instruction.
  //
  // The arena may start anywhere (16-byte aligned wastes nothing). With arena-too-small,
  // `why.need_bytes` is exact, unless the arena cannot even hold the method's own data: then the
  // kernels' scratch, which only they know, is missing from it.
  // @return any error; `why` has the details, `out` is usable only after kOk.
  static Error load(std::span<const std::byte> pte, std::string_view name,
                    std::span<std::byte> arena, Method& out, Failure& why);

  uint32_t instruction_count() const { return plan_.instruction_count(); }

  // Inputs that are tensors; numbers among a program's inputs are constants of it by now.
  uint32_t input_count() const;
  Tensor& input(uint32_t i);
  // Calls `use(Tensor&)` with each of them in order, in time that grows with their number alone.
  template <typename Use>
  void for_each_input(Use use) {
    for (const int32_t value : plan_.inputs()) {
      if (kinds_[value] == ValueKind::kTensor) use(*slots_[value].tensor);
    }
  }
  uint32_t output_count() const { return static_cast<uint32_t>(plan_.outputs().size()); }
  const Tensor& output(uint32_t i) const { return *slots_[plan_.outputs()[i]].tensor; }
  Tensor& output(uint32_t i) { return *slots_[plan_.outputs()[i]].tensor; }
  // What an instruction of the program writes (the first of several), valid until an instruction
  // that shares its memory; nullptr if it writes no tensor.
  const Tensor* result(uint32_t i) const { return arguments(i).result(); }
  // What an instruction of the program is called with; valid as long as the method.
  Args arguments(uint32_t i) const {
    const pte::Instruction instruction = plan_.instruction(i);
    return {values(), instruction.arguments, instruction.argument_count};
  }

  // All values of the plan; those that no instruction uses are kUnused.
  ValueTable values() const { return {slots_, kinds_, plan_.value_count()}; }

  // Runs the method once. Inputs may share memory with other tensors of the plan: write all of
  // them before each call.
  // @return not-loaded, or what a kernel reported.
  Error execute(Failure& why, const InstructionHook* hook = nullptr);

  MemoryUse memory() const { return memory_; }

 private:
  class Loader;

  pte::Plan plan_;
  ValueSlot* slots_ = nullptr;        // one a value
  ValueKind* kinds_ = nullptr;        // one a value
  const Kernel** kernels_ = nullptr;  // one an operator of the plan
  std::span<std::byte> temporary_;
  MemoryUse memory_ = {};
};

}  // namespace rt
