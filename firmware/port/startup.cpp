// Vectors, and the way from reset to the app.
#include <algorithm>

#include "firmware/port/cortex_m.hpp"
#include "firmware/port/memory.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using cortex_m::scb;

#if __ARM_ARCH < 8
// An MPU region without access at the stack's end: the store that runs over it is a MemManage
// fault, on Armv6-M a HardFault, not a silent write (Armv7-M ARM B3.5, Armv6-M ARM B3.5: the same
// registers). Armv8-M has MSPLIM instead.
void limit_stack() {
  constexpr uint32_t kNoAccessNoExecute = 1u << 28;
  constexpr uint32_t kSize = (7u << 1) | 1u;  // 2^(7+1) = kStackGuardBytes, enabled
  static_assert(1u << 8 == kStackGuardBytes);
  if ((scb().mpu_type >> 8 & 0xFF) == 0) return;
  scb().mpu_rnr = 0;
  scb().mpu_rbar = address_of(lab_stack_bottom);
  scb().mpu_rasr = kNoAccessNoExecute | kSize;
  scb().mpu_ctrl = cortex_m::kMpuEnableWithDefaultMap;
  cortex_m::barrier();
}
#else
void limit_stack() {
  asm volatile("msr msplim, %0" ::"r"(address_of(lab_stack_bottom) + kStackGuardBytes));
}
#endif

void paint_stack() {
  uint32_t* const here = static_cast<uint32_t*>(__builtin_frame_address(0));
  // 16 words below this frame: what the call below may use before it returns.
  for (volatile uint32_t* word = lab_stack_bottom; word < here - 16; ++word) *word = kStackPaint;
}

#if __ARM_ARCH == 6
void enable_faults() {
}  // HardFault alone, always on; unaligned accesses always fault (Armv6-M ARM A3.2.1)
#else
void enable_faults() {
  scb().shcsr = scb().shcsr | cortex_m::kShcsrMemManage | cortex_m::kShcsrBus |
                cortex_m::kShcsrUsage | (__ARM_ARCH >= 8 ? cortex_m::kShcsrSecure : 0);
  // Unaligned accesses are legal on these cores and the C library makes them: not trapped.
  scb().ccr = scb().ccr | cortex_m::kCcrTrapDivideByZero;
}
#endif

// Not in reset_handler: the compiler may use vector registers here, which are off until then.
[[noreturn, gnu::noinline]] void start() {
  paint_stack();
  std::copy(lab_data_load, lab_data_load + (lab_data_end - lab_data_start), lab_data_start);
  std::fill(lab_bss_start, lab_bss_end, 0u);
  enable_faults();
  limit_stack();
  board_start();
  exit(app_main());
}

}  // namespace

extern "C" {

[[noreturn]] void reset_handler() {
  scb().vtor = reinterpret_cast<uint32_t>(lab_vectors);
#ifdef __ARM_FP
  scb().cpacr = scb().cpacr | cortex_m::kCpacrFpu;
#endif
#ifdef __ARM_FEATURE_MVE
  // Reset leaves LOB off; the compiler emits WLS/LE loops (Armv8-M ARM D1.2.9).
  scb().ccr = scb().ccr | cortex_m::kCcrLowOverheadLoops;
#endif
  cortex_m::barrier();
  start();
}

void fault_entry();
void systick_handler();

using Handler = void (*)();
struct Vectors {
  uint32_t* stack_top;
  Handler handlers[15];
};

// Armv7-M ARM B1.5.2. No interrupt but SysTick is ever enabled; whatever else comes is a fault.
[[gnu::section(".vectors"), gnu::used]] extern const Vectors fw_vectors = {
    lab_stack_top,
    {reset_handler, fault_entry, fault_entry, fault_entry, fault_entry, fault_entry, fault_entry,
     fault_entry, fault_entry, fault_entry, fault_entry, fault_entry, fault_entry, fault_entry,
     systick_handler}};
}

}  // namespace fw
