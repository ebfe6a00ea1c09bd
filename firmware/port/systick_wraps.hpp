// SysTick's wraps, counted by its interrupt: what widens a 24-bit counter.
#pragma once

#include <cstdint>

namespace fw {

/** Instructions of the handler, which a wrap adds to the window that it falls into. */
inline constexpr uint32_t kWrapInstructions = 5;

/** Width of SysTick, bits. */
inline constexpr uint32_t kSysTickBits = 24;
inline constexpr uint32_t kSysTickMask = (1u << kSysTickBits) - 1;

}  // namespace fw

extern "C" {
/** Written by the interrupt handler alone, but for a restart, which masks it. */
extern volatile uint32_t fw_systick_wraps;
}
