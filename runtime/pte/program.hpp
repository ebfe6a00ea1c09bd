// A .pte in place: everything that is read from the file is checked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/core/error.hpp"
#include "runtime/core/tensor.hpp"
#include "runtime/pte/verify.hpp"

namespace executorch_flatbuffer {
struct EValue;
struct ExecutionPlan;
struct KernelCall;
struct Operator;
struct Program;
struct Tensor;
}  // namespace executorch_flatbuffer

namespace rt::pte {

namespace fb = ::executorch_flatbuffer;

// Where a program's tensor data lies, besides its shape.
struct TensorPlace {
  const std::byte* constant;  // in the program, nullptr if planned
  uint32_t buffer;            // index of the planned buffer, from 1
  uint32_t offset_bytes;      // in that buffer
};

struct Instruction {
  const int32_t* arguments;  // checked indices into the plan's values
  uint32_t argument_count;
  uint32_t operator_index;  // checked index into the plan's operators
};

struct OperatorName {
  std::string_view name;
  std::string_view overload;
};

// One method of a program that was found fit to be executed: a single chain of kernel calls, no
// delegates. Owns nothing.
class Plan {
 public:
  Plan() = default;
  // The plan's own fields are where they should be.
  Plan(const fb::Program* program, const fb::ExecutionPlan* plan, std::span<const std::byte> file,
       uint64_t segments_begin);

  // Checks the plan's structure and every index in it; only then are there instructions.
  // @return delegate-unsupported, control-flow-unsupported, instruction-unsupported,
  //     device-unsupported, index-out-of-range, program-corrupt, program-tangled; `instruction` is
  //     the culprit or -1.
  Error check(Verifier& verifier, int32_t& instruction);

  uint32_t value_count() const { return value_count_; }
  // Verifies value `i`, which is below value_count(), with all that hangs on it.
  // @return nullptr if it is corrupt.
  const fb::EValue* value(Verifier& verifier, uint32_t i) const;
  uint32_t instruction_count() const { return instruction_count_; }
  uint32_t operator_count() const;
  Instruction instruction(uint32_t i) const;
  OperatorName operator_name(uint32_t i) const;
  std::span<const int32_t> inputs() const;
  std::span<const int32_t> outputs() const;

  // Planned buffers, from 1 on: entry 0 of the list is reserved by the format.
  uint32_t buffer_end() const;
  // @return bytes of the buffer, a checked 31-bit number.
  uint32_t buffer_bytes(uint32_t buffer) const;

  // Reads tensor value `table`, which is verified; checks type, shape, dim order, bounds and
  // alignment.
  // @return tensor-*, *-unsupported or index-out-of-range.
  Error tensor(Verifier& verifier, const fb::Tensor& table, Tensor& shape,
               TensorPlace& place) const;

 private:
  Error constant(Verifier& verifier, uint32_t index, uint32_t nbytes, const std::byte*& data) const;

  const fb::Program* program_ = nullptr;
  const fb::ExecutionPlan* plan_ = nullptr;
  std::span<const std::byte> file_;
  uint64_t segments_begin_ = 0;
  const std::byte* values_ = nullptr;        // offsets of their tables
  const std::byte* instructions_ = nullptr;  // likewise
  uint32_t value_count_ = 0;
  uint32_t instruction_count_ = 0;
};

// Verifies the file and finds a method in it. Other methods are not looked at.
// @return program-misaligned, program-foreign, program-truncated, program-corrupt, method-missing.
Error open(std::span<const std::byte> file, std::string_view method, Verifier& verifier, Plan& out);

}  // namespace rt::pte
