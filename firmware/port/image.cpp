// The image and its memory, from the linker's symbols.
#include "firmware/port/memory.hpp"
#include "firmware/port/port.hpp"

extern "C" volatile fw::Mailbox lab_mailbox;

namespace fw {

std::span<const std::byte> build_id() {
  // An ELF note: name size, descriptor size, type, "GNU\0", then the descriptor.
  constexpr size_t kNoteHeaderBytes = 16;
  return {lab_build_id_note + kNoteHeaderBytes, lab_build_id_note_end};
}

std::span<const std::byte> model_slot() { return {lab_model_start, lab_model_end}; }

std::span<std::byte> arena() { return {lab_arena_start, lab_arena_end}; }

volatile Mailbox& mailbox() { return lab_mailbox; }

StackUse stack_use() {
  const uint32_t* const limit = lab_stack_bottom + kStackGuardBytes / sizeof(uint32_t);
  const volatile uint32_t* word = limit;
  while (word < lab_stack_top && *word == kStackPaint) ++word;
  return {address_of(lab_stack_top) - address_of(limit),
          address_of(lab_stack_top) - address_of(const_cast<const uint32_t*>(word))};
}

}  // namespace fw
