// Time from DWT's cycle counter: 32 bits in hardware, widened to 64 by SysTick.
//
// Armv7-M ARM (DDI0403E) C1.8.7, DWT_CTRL and DWT_CYCCNT, and C1.6.5, DEMCR; Armv8-M ARM (DDI0553B)
// D1.2 under the same names. CYCCNT wraps after 9 s at 480 MHz and has no interrupt of its own.
// SysTick runs beside it from the same clock and interrupts every 2^24 cycles: its coarse count
// tells how often CYCCNT wrapped, CYCCNT alone gives the cycles.
#include "firmware/port/cortex_m.hpp"
#include "firmware/port/port.hpp"
#include "firmware/port/systick_wraps.hpp"

namespace fw {
namespace {

volatile uint32_t& reg(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
volatile uint32_t& demcr() { return reg(0xE000EDFC); }
volatile uint32_t& dwt_ctrl() { return reg(0xE0001000); }
volatile uint32_t& dwt_cyccnt() { return reg(0xE0001004); }
volatile uint32_t& dwt_lar() { return reg(0xE0001FB0); }

constexpr uint32_t kTraceEnable = 1u << 24;
constexpr uint32_t kCycleCounterEnable = 1u << 0;
// CoreSight (IHI0029E) B2.3.10: the Cortex-M7 locks its DWT; cores without the lock ignore the key.
constexpr uint32_t kUnlock = 0xC5ACCE55;

}  // namespace

std::string_view counter_name() { return "dwt"; }
uint32_t counter_hz() { return board_clock_hz(); }

[[gnu::noinline]] void counter_restart() {
  using namespace cortex_m;
  systick().csr = 0;
  scb().icsr = kIcsrClearSysTick;
  demcr() = demcr() | kTraceEnable;
  dwt_lar() = kUnlock;
  barrier();
  fw_systick_wraps = 0;
  systick().rvr = kSysTickMask;
  systick().cvr = 0;
  systick().csr = kSysTickEnable | kSysTickInterrupt | kSysTickProcessorClock;
  dwt_ctrl() = dwt_ctrl() | kCycleCounterEnable;
  barrier();
  dwt_cyccnt() = 0;
}

[[gnu::noinline]] uint64_t counter_read() {
  using namespace cortex_m;
  const uint32_t low = dwt_cyccnt();
  asm volatile("cpsid i" ::: "memory");
  const uint32_t fine = (0u - systick().cvr) & kSysTickMask;
  uint64_t wraps = fw_systick_wraps;
  // Pending while masked: a wrap that the handler has not counted.
  if ((scb().icsr & kIcsrSysTickPending) != 0 && fine < kSysTickMask / 2) ++wraps;
  asm volatile("cpsie i" ::: "memory");
  // `coarse` was read some cycles after `low` and may miss a wrap that happens just then: it is
  // within 2^25 of the truth, and half of 2^32 is far from both.
  const uint64_t coarse = (wraps << kSysTickBits) | fine;
  const uint64_t above = coarse + (1ull << 31) - low;
  return coarse + (1ull << 31) < low ? low : (above & ~0xFFFFFFFFull) + low;
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
