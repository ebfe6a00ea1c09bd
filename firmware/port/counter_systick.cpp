// Time from SysTick: 24 bits in hardware, widened to 64 by its wrap interrupt.
//
// SysTick counts down; writing CVR clears it, and the first tick then loads RVR (Armv7-M ARM
// B3.3.1). So with RVR at its maximum, -CVR modulo 2^24 is the number of ticks since the clear, and
// the interrupt comes when that number returns to 0.
#include "firmware/port/cortex_m.hpp"
#include "firmware/port/port.hpp"
#include "firmware/port/systick_wraps.hpp"

namespace fw {
std::string_view counter_name() { return "systick"; }
uint32_t counter_hz() { return board_clock_hz(); }

[[gnu::noinline]] void counter_restart() {
  using namespace cortex_m;
  systick().csr = 0;
  scb().icsr = kIcsrClearSysTick;
  barrier();
  fw_systick_wraps = 0;
  systick().rvr = kSysTickMask;
  systick().cvr = 0;
  barrier();
  systick().csr = kSysTickEnable | kSysTickInterrupt | kSysTickProcessorClock;
}

[[gnu::noinline]] uint64_t counter_read() {
  using namespace cortex_m;
  asm volatile("cpsid i" ::: "memory");
  const uint32_t low = (0u - systick().cvr) & kSysTickMask;
  // CVR reads 0 at the very tick of a wrap, when the interrupt may not be pending yet: let it pass.
  while (systick().cvr == 0) {
  }
  uint64_t wraps = fw_systick_wraps;
  // Pending while masked: a wrap that the handler has not counted. It belongs to this reading only
  // if it came before CVR was read, which a small count tells.
  if ((scb().icsr & kIcsrSysTickPending) != 0 && low < kSysTickMask / 2) ++wraps;
  asm volatile("cpsie i" ::: "memory");
  return (wraps << kSysTickBits) | low;
}

bool can_time_instructions() { return true; }

[[gnu::noinline]] uint64_t time_instructions(uint32_t pairs) {
  counter_restart();
  asm volatile(
      "1: subs %0, #1\n\t"
      "bne 1b"
      : "+l"(pairs)
      :
      : "cc");
  const uint64_t ticks = counter_read();
  // Not a tail call: it would put this function's epilogue into the window.
  asm volatile("" ::: "memory");
  return ticks;
}

}  // namespace fw
