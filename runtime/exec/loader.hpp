// Loading of a method: the steps between a program's bytes and a method that can be executed.
#pragma once

#include "runtime/exec/method.hpp"

namespace executorch_flatbuffer {
struct EValue;
}  // namespace executorch_flatbuffer

namespace rt {

// Writes the operator's name into `why`.
void describe_operator(const pte::Plan& plan, uint32_t operator_index, Failure& why);

class Method::Loader {
 public:
  Loader(Method& method, std::span<std::byte> arena, Failure& why)
      : method_(method), arena_(arena), why_(why) {}

  Error load(std::span<const std::byte> pte, std::string_view name);

 private:
  // Where the arena's parts begin, counted from its first byte; 64 bits, so that no sum overflows.
  struct Layout {
    uint64_t planned_begin, method_begin;
    uint64_t arrays_bytes;  // of the method pool without its tensors
    uint64_t method_end(uint32_t tensors) const {
      return method_begin + arrays_bytes + uint64_t{tensors} * sizeof(Tensor);
    }
  };

  Error check_operators();
  Error count_tensors(uint32_t& count);
  Layout lay_out() const;
  void place_arrays(std::byte* pool, uint32_t tensor_capacity);
  Error find_kernels();
  Error refuse_operator(uint32_t instruction, uint32_t operator_index);
  Error corrupt(uint32_t value);
  Error spend(uint32_t steps);
  Error read_values();
  Error use(uint32_t value);
  Error read(uint32_t value, ValueKind most);
  Error read_value(const executorch_flatbuffer::EValue& value, uint32_t i);
  Error read_tensor(const executorch_flatbuffer::Tensor& table, Tensor& out);
  Error check_boundary();
  Error prepare(uint32_t& temporary_bytes);
  Error finish(const Layout& layout, uint32_t temporary_bytes);

  Method& method_;
  std::span<std::byte> arena_;
  Failure& why_;
  pte::Verifier verifier_;
  Tensor* tensors_ = nullptr;
  uint32_t tensor_count_ = 0, tensor_capacity_ = 0;
  uint64_t steps_left_ = 0;  // of loading, see spend()
  // Start of the planned buffers; nullptr if the arena is too small and only its need is sought.
  std::byte* planned_ = nullptr;
};

}  // namespace rt
