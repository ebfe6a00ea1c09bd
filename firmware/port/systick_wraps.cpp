// The handler that counts SysTick's wraps, and the self-test that it is reached.
#include "firmware/port/systick_wraps.hpp"

#include "firmware/port/cortex_m.hpp"
#include "firmware/port/port.hpp"

extern "C" {
volatile uint32_t fw_systick_wraps;

// Naked, so that the instructions a wrap costs are these five under every compiler; exception entry
// and exit execute none.
[[gnu::naked]] void systick_handler() {
  asm volatile(
      "ldr r0, =fw_systick_wraps\n\t"
      "ldr r1, [r0]\n\t"
      "adds r1, #1\n\t"
      "str r1, [r0]\n\t"
      "bx lr\n\t"
      ".ltorg");
}
}

namespace fw {

uint32_t counter_wrap_instructions() { return kWrapInstructions; }
uint32_t counter_wrap_bits() { return kSysTickBits; }

// SysTick is made to wrap every 1,024 ticks instead of 2^24. Its own flag (SYST_CSR.COUNTFLAG,
// Armv7-M ARM B3.3.3, cleared by reading) tells of wraps that the handler must have counted.
bool counter_wraps_are_seen() {
  using namespace cortex_m;
  constexpr uint32_t kReload = 1023;
  constexpr int kPolls = 10'000;  // enough for two wraps if a poll takes more than a tick
  systick().csr = 0;
  scb().icsr = kIcsrClearSysTick;
  fw_systick_wraps = 0;
  systick().rvr = kReload;
  systick().cvr = 0;
  barrier();
  systick().csr = kSysTickEnable | kSysTickInterrupt | kSysTickProcessorClock;
  uint32_t flagged = 0;
  for (int i = 0; i < kPolls && flagged < 2; ++i) {
    if ((systick().csr & kSysTickCountFlag) != 0) ++flagged;
  }
  systick().csr = 0;
  return flagged < 2 || fw_systick_wraps != 0;
}

}  // namespace fw
