// Registers of the System Control Space that the port uses.
//
// Armv7-M ARM (DDI0403E) B3.2-B3.5; Armv8-M ARM (DDI0553B) D1.2 where it differs. Armv6-M ARM
// (DDI0419E) B3 has no fault status registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fw::cortex_m {

// B3.3, SYST_CSR and following.
struct SysTick {
  uint32_t csr;
  uint32_t rvr;
  uint32_t cvr;
  uint32_t calib;
};
inline volatile SysTick& systick() { return *reinterpret_cast<volatile SysTick*>(0xE000E010); }
inline constexpr uint32_t kSysTickEnable = 1u << 0;
inline constexpr uint32_t kSysTickInterrupt = 1u << 1;
inline constexpr uint32_t kSysTickProcessorClock = 1u << 2;
inline constexpr uint32_t kSysTickCountFlag = 1u << 16;

// B3.2, from CPUID on.
struct SystemControl {
  uint32_t cpuid;
  uint32_t icsr;
  uint32_t vtor;
  uint32_t aircr;
  uint32_t scr;
  uint32_t ccr;
  uint32_t shpr[3];
  uint32_t shcsr;
  uint32_t cfsr;
  uint32_t hfsr;
  uint32_t dfsr;
  uint32_t mmfar;
  uint32_t bfar;
  uint32_t afsr;
  uint32_t id[18];
  uint32_t cpacr;
  uint32_t reserved;
  uint32_t mpu_type;
  uint32_t mpu_ctrl;
  uint32_t mpu_rnr;
  uint32_t mpu_rbar;
  uint32_t mpu_rasr;
};
inline volatile SystemControl& scb() {
  return *reinterpret_cast<volatile SystemControl*>(0xE000ED00);
}
static_assert(offsetof(SystemControl, cpacr) == 0x88);
static_assert(offsetof(SystemControl, mpu_rasr) == 0xA0);

inline constexpr uint32_t kIcsrClearSysTick = 1u << 25;
inline constexpr uint32_t kIcsrSysTickPending = 1u << 26;
inline constexpr uint32_t kCcrTrapDivideByZero = 1u << 4;
inline constexpr uint32_t kCcrLowOverheadLoops = 1u << 19;  // Armv8.1-M
inline constexpr uint32_t kShcsrMemManage = 1u << 16;
inline constexpr uint32_t kShcsrBus = 1u << 17;
inline constexpr uint32_t kShcsrUsage = 1u << 18;
inline constexpr uint32_t kShcsrSecure = 1u << 19;  // Armv8-M with the Security Extension
inline constexpr uint32_t kCpacrFpu = 0xFu << 20;
inline constexpr uint32_t kCfsrMemManageStacking = 1u << 4;
inline constexpr uint32_t kCfsrMmfarValid = 1u << 7;
inline constexpr uint32_t kCfsrBusStacking = 1u << 12;
inline constexpr uint32_t kCfsrBfarValid = 1u << 15;
inline constexpr uint32_t kCfsrStackOverflow = 1u << 20;  // Armv8-M
inline constexpr uint32_t kMpuEnableWithDefaultMap = (1u << 0) | (1u << 2);

// B3.2.21: lazy floating-point state preservation.
inline volatile uint32_t& fpccr() { return *reinterpret_cast<volatile uint32_t*>(0xE000EF34); }
inline constexpr uint32_t kFpccrLazyActive = 1u << 0;

inline void barrier() { asm volatile("dsb\n\tisb" ::: "memory"); }

}  // namespace fw::cortex_m
