// A .pte as objects that can be changed, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program_generated.h"

namespace fuzz {

namespace fb = ::executorch_flatbuffer;

struct File {
  std::unique_ptr<fb::ProgramT> program;
  bool with_header = false;       // the extended header, between identifier and first table
  std::vector<uint8_t> segments;  // what follows the flatbuffer

  fb::ExecutionPlanT& plan() { return *program->execution_plan[0]; }
  std::vector<std::unique_ptr<fb::InstructionT>>& instructions() {
    return plan().chains[0]->instructions;
  }
};

// Takes a file apart. @return false if it is none that can be changed as such: the verifier refuses
// it, it is large, or it has no chain of instructions.
bool unpack(std::span<const uint8_t> bytes, File& out);

// @return the file, or nothing if it does not fit.
std::vector<uint8_t> pack(const File& file, size_t max_bytes);

}  // namespace fuzz
