// A method from tables that the host laid out beside the program: what a load would have read and
// resolved. Nothing of the flatbuffer is read, and nothing is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/error.hpp"
#include "runtime/core/kernel.hpp"
#include "runtime/core/tensor.hpp"
#include "runtime/core/value.hpp"
#include "runtime/exec/memory.hpp"

namespace rt {

// The tables as they lie in memory, little-endian, at the first multiple of 16 behind the program
// (docs/tables.md; bench/tables.py writes them). Offsets are counted from the program's first byte.
struct Tables {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;            // of the tables, this header included
  uint32_t program_crc32;    // of the .pte
  uint32_t kernels_crc32;    // of the names of the image's kernels in order, each with its NUL
  uint32_t planned_bytes;    // of the arena, a multiple of 16
  uint32_t temporary_bytes;  // of the arena
  uint32_t value_count;
  uint32_t word_count;
  uint16_t instruction_count;
  uint16_t shape_count;
  uint16_t tensor_count;
  uint16_t input_count;
  uint16_t output_count;
  uint16_t zero;
  uint64_t nothing;  // 0: what a double or list that the program leaves out leads to
};
static_assert(sizeof(Tables) == 56);

inline constexpr uint32_t kTablesMagic = 0x4C42'4154;  // TABL
inline constexpr uint32_t kTablesVersion = 1;

// Owns nothing: program, tables and arena must outlive it. One thread.
class LaidMethod {
 public:
  // Lays the method out: for a program that `Method::load` accepted in an image with the same
  // kernels, with tables that were made for both, whose bytes were confirmed since. Neither is
  // looked at here.
  //
  // The arena may start anywhere (16-byte aligned wastes nothing).
  // @return arena-too-small; memory() then says what it takes, and nothing else is valid.
  Error load(const std::byte* program, const Tables& tables, std::span<std::byte> arena);

  // Inputs that are tensors, as Method's.
  uint32_t input_count() const { return tables_->input_count; }
  Tensor& input(uint32_t i) { return tensors_[inputs_[i]]; }
  uint32_t output_count() const { return tables_->output_count; }
  const Tensor& output(uint32_t i) const { return tensors_[inputs_[tables_->input_count + i]]; }

  uint32_t instruction_count() const { return tables_->instruction_count; }
  // What an instruction is called with: indices of values.
  std::span<const int32_t> argument_values(uint32_t i) const {
    return {reinterpret_cast<const int32_t*>(program_ + calls_[i].arguments),
            calls_[i].argument_count};
  }
  const Kernel& kernel(uint32_t i) const { return all_kernels()[calls_[i].kernel]; }
  ValueTable values() const { return {slots_, kinds_, tables_->value_count}; }

  // Runs the method once. Inputs may share memory with other tensors of the plan: write all of
  // them before each call.
  // @return what a kernel reported.
  Error execute() const;

  MemoryUse memory() const { return memory_; }

 private:
  struct Call {
    uint32_t arguments;  // offset of the argument list in the program
    uint16_t argument_count;
    uint16_t kernel;  // index among the image's
  };
  struct Shape {
    uint32_t sizes, dim_order;  // offsets
    uint32_t numel;
    uint8_t type, rank;
    uint16_t zero;
  };
  static_assert(sizeof(Call) == 8 && sizeof(Shape) == 16);

  void place_tensors(const Shape* shapes, const uint32_t* places, const uint16_t* shape_of,
                     std::byte* planned) const;
  void fill_slots(const uint32_t* words) const;

  const Tables* tables_ = nullptr;
  const std::byte* program_ = nullptr;
  const Call* calls_ = nullptr;
  const uint16_t* inputs_ = nullptr;  // numbers of tensors, then the outputs'
  const ValueKind* kinds_ = nullptr;  // one a value, in the tables
  ValueSlot* slots_ = nullptr;        // one a value
  Tensor* tensors_ = nullptr;         // in the order of their values
  std::span<std::byte> temporary_;
  MemoryUse memory_ = {};
};

}  // namespace rt
