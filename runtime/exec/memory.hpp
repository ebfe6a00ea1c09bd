// The arena by purpose.
#pragma once

#include <cstdint>

namespace rt {

inline constexpr uint64_t kArenaAlignment = 16;

constexpr uint64_t align(uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Bytes of the arena by purpose, in their order in the arena.
struct MemoryUse {
  uint32_t planned_bytes;    // the exporter's memory plan
  uint32_t method_bytes;     // tensors, values, kernels
  uint32_t temporary_bytes;  // scratch of the kernels, the largest need of any
  uint32_t arena_bytes;      // what was given
  uint32_t needed_bytes;     // what would have sufficed at the same address, alignment included
};

}  // namespace rt
