// Symbols of firmware/port/sections.ld.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
extern const uint32_t lab_vectors[];
extern const std::byte lab_build_id_note[], lab_build_id_note_end[];
extern uint32_t lab_stack_bottom[], lab_stack_top[];
extern uint32_t lab_data_start[], lab_data_end[];
extern const uint32_t lab_data_load[];
extern uint32_t lab_bss_start[], lab_bss_end[];
extern std::byte lab_arena_start[], lab_arena_end[];
extern const std::byte lab_model_start[], lab_model_end[];
}

namespace fw {

inline constexpr uint32_t kStackPaint = 0xC5C5C5C5;

/** Bytes at the stack's lower end that are never to be used: the MPU's no-access region on Armv7-M,
 * room below MSPLIM on Armv8-M. */
inline constexpr uint32_t kStackGuardBytes = 256;

inline uint32_t address_of(const void* pointer) { return reinterpret_cast<uint32_t>(pointer); }

}  // namespace fw
