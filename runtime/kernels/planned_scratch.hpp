// The scratch tensor that the exporter planned for CMSIS-NN, used by kernels of ours where it is
// large enough; the temporary pool is for the rest.
#pragma once

#include "runtime/core/kernel.hpp"

namespace rt::kernels {

// Whether argument `i` has room, at an address for words.
inline bool scratch_suffices(const Args& args, uint32_t i, uint32_t bytes) {
  const Tensor& scratch = args.tensor(i);
  const bool aligned = reinterpret_cast<uintptr_t>(scratch.data()) % alignof(uint32_t) == 0;
  return aligned && !scratch.is_constant() && scratch.nbytes() >= bytes;
}

// Asks for temporary memory unless argument `i` has room. For `prepare`.
inline void need_scratch(const Args& args, uint32_t i, uint32_t bytes, Needs& needs) {
  needs.temporary_bytes = scratch_suffices(args, i, bytes) ? 0 : bytes;
}

// @return where the memory is. For `run`, with the same number of bytes.
inline std::byte* take_scratch(const Args& args, uint32_t i, uint32_t bytes,
                               std::span<std::byte> temporary) {
  return scratch_suffices(args, i, bytes) ? args.tensor(i).data() : temporary.data();
}

}  // namespace rt::kernels
