// Processor faults: say what is known, then exit.
#include "firmware/port/cortex_m.hpp"
#include "firmware/port/memory.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using cortex_m::scb;

// Exception numbers, Armv7-M ARM B1.5.2.
std::string_view type_of(uint32_t exception) {
  switch (exception) {
    case 2:
      return "nmi";
    case 3:
      return "hardfault";
    case 4:
      return "memmanage";
    case 5:
      return "busfault";
    case 6:
      return "usagefault";
    case 7:
      return "securefault";
    default:
      return "unexpected_exception";
  }
}

// What the processor knows of a fault beside its frame.
struct Status {
  uint32_t cfsr, hfsr, mmfar, bfar;
};

#if __ARM_ARCH == 6
Status take_status() { return {}; }  // Armv6-M has no such registers
#else
Status take_status() {
  // The frame that a lazy save of floating-point registers would write to is given up.
  cortex_m::fpccr() = cortex_m::fpccr() & ~cortex_m::kFpccrLazyActive;
  const uint32_t cfsr = scb().cfsr;
  return {cfsr, scb().hfsr, (cfsr & cortex_m::kCfsrMmfarValid) != 0 ? scb().mmfar : 0,
          (cfsr & cortex_m::kCfsrBfarValid) != 0 ? scb().bfar : 0};
}
#endif

bool ran_over_the_stack(uint32_t frame, const Status& status) {
  const uint32_t limit = address_of(lab_stack_bottom) + kStackGuardBytes;
  return frame < limit || (status.cfsr & cortex_m::kCfsrStackOverflow) != 0 ||
         ((status.cfsr & cortex_m::kCfsrMmfarValid) != 0 && status.mmfar < limit &&
          status.mmfar >= address_of(lab_stack_bottom));
}

}  // namespace

extern "C" {

// All but `frame` are 0 if the processor could not save them.
[[noreturn, gnu::used]] void fault_report(uint32_t frame, uint32_t lr, uint32_t pc, uint32_t xpsr,
                                          uint32_t exception_return) {
  const Status status = take_status();
  uint32_t exception;
  asm volatile("mrs %0, ipsr" : "=r"(exception));
  constexpr uint32_t kNotSaved = cortex_m::kCfsrMemManageStacking | cortex_m::kCfsrBusStacking;
  if ((status.cfsr & kNotSaved) != 0) lr = pc = xpsr = 0;
  // B1.5.6: a frame of 8 words, 26 with floating-point registers, and a filler if bit 9 says so.
  const uint32_t frame_bytes =
      ((exception_return & 0x10) != 0 ? 32u : 104u) + ((xpsr & 0x200) != 0 ? 4u : 0u);
  app_fault({ran_over_the_stack(frame, status) ? "stack_overflow" : type_of(exception), pc, lr,
             frame + frame_bytes, xpsr, status.cfsr, status.hfsr, status.mmfar, status.bfar});
  exit(kExitFault);
}

// The stack may be gone, so everything is fetched into registers and the stack begun anew at its
// top: what lies there is not needed any more. A frame at or below the limit was not written
// (Armv8-M sets the stack pointer to the limit in that case).
[[gnu::naked]] void fault_entry() {
  asm volatile(
      "mrs r0, msp\n\t"
      "movs r1, #0\n\t"
      "movs r2, #0\n\t"
      "movs r3, #0\n\t"
      "ldr r4, =lab_stack_bottom + %c0\n\t"
      "cmp r0, r4\n\t"
      "bls 1f\n\t"
      "ldr r4, =lab_stack_top - 32\n\t"
      "cmp r0, r4\n\t"
      "bhi 1f\n\t"
      "ldr r1, [r0, #20]\n\t"
      "ldr r2, [r0, #24]\n\t"
      "ldr r3, [r0, #28]\n"
      "1:\n\t"
      "ldr r4, =lab_stack_top - 8\n\t"
      "mov sp, r4\n\t"
      "mov r4, lr\n\t"
      "str r4, [sp]\n\t"
      "bl fault_report\n\t"
      ".ltorg" ::"i"(kStackGuardBytes));
}
}

void undefined_instruction() {
  asm volatile("udf #0");
  __builtin_unreachable();
}

}  // namespace fw
