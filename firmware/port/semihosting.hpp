// Semihosting: how an emulator is told to end (Arm "Semihosting for AArch32 and AArch64", 2.0).
#pragma once

#include <cstdint>

namespace fw {

/** Ask the host to end with `code`. Without a host that answers, BKPT is a fault. */
[[noreturn]] inline void semihosting_exit(int code) {
  constexpr uint32_t kSysExitExtended = 0x20;
  constexpr uint32_t kApplicationExit = 0x20026;
  const uint32_t block[] = {kApplicationExit, static_cast<uint32_t>(code)};
  for (;;) {
    register uint32_t operation asm("r0") = kSysExitExtended;
    register const uint32_t* argument asm("r1") = block;
    asm volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
  }
}

}  // namespace fw
