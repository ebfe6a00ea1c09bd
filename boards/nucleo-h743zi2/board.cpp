// NUCLEO-H743ZI2: USART3 on PD8 (out) and PD9 (in), which the board's ST-LINK carries to USB
// (UM2407 Rev. 4). Sections are those of RM0433 Rev. 8. 480 MHz is for silicon revision V alone.
#include "boards/nucleo-h743zi2/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::stm32h743;

constexpr uint32_t kClockHz = 480'000'000;
constexpr uint32_t kHsiHz = 64'000'000;
constexpr uint32_t kPllDivide = 4;
constexpr uint32_t kPllMultiply = 60;
constexpr uint32_t kPllOut = 2;
static_assert(kHsiHz / kPllDivide * kPllMultiply / kPllOut == kClockHz);
constexpr uint32_t kBaud = 115'200;
constexpr uint32_t kBaudDivider = (kHsiHz + kBaud / 2) / kBaud;

constexpr uint32_t kAlternate = 2;      // 11.4.1, MODER
constexpr uint32_t kUsart3 = 7;         // STM32H743 datasheet, alternate functions of port D
constexpr uint32_t kVos1 = 3;           // 6.8.7, VOS
constexpr uint32_t kPllFromHsi = 0;     // 8.7.11, PLLSRC
constexpr uint32_t kInput8To16Mhz = 3;  // 8.7.12, PLL1RGE
constexpr uint32_t kRunFromPll = 3;     // 8.7.6, SW
constexpr uint32_t kHalf = 4;           // 8.7.7, D1PPRE and alike
constexpr uint32_t kBusHalf = 8;        // 8.7.7, HPRE
constexpr uint32_t kUsartFromHsi = 3;   // 8.7.21, USART234578SEL

void raise_supply() {
  // 6.8.4: the low byte can be written once after power-on; the LDO is the board's supply.
  kPowerControl3.write(kPowerUpdateLock.of(1) | kPowerRegulator.of(1));
  kPowerStatus1.await(kPowerLevelReady, 1);
  // 6.6.2: VOS1 first, then overdrive makes it VOS0.
  kPowerDomain3.replace(kPowerLevel, kVos1);
  kPowerDomain3.await(kPowerReady, 1);
  kGateApb4.replace(kGateSyscfg, 1);
  (void)kGateApb4.read();  // 8.5.11: two cycles until a gate is open
  kPowerOverdrive.replace(kPowerOverdriveOn, 1);
  kPowerDomain3.await(kPowerReady, 1);
}

void raise_clock() {
  // 4.3.8, table "FLASH recommended number of wait states": 4 for a bus of 240 MHz under VOS0.
  kFlashAccess.write(kFlashLatency.of(4) | kFlashSignalDelay.of(2));
  kFlashAccess.await(kFlashLatency, 4);
  kPllSelection.write(kPllSource.of(kPllFromHsi) | kPllM.of(kPllDivide));
  kPllConfiguration.write(kPllInputRange.of(kInput8To16Mhz) | kPllPEnable.of(1));
  kPllDividers.write(kPllN.of(kPllMultiply - 1) | kPllP.of(kPllOut - 1));
  kClockControl.replace(kPllOn, 1);
  kClockControl.await(kPllReady, 1);
  // Core 480, buses 240, peripherals 120 MHz.
  kDomain1.write(kCoreDivider.of(0) | kBusDivider.of(kBusHalf) | kApb3Divider.of(kHalf));
  kDomain2.write(kApb1Divider.of(kHalf) | kApb2Divider.of(kHalf));
  kDomain3.write(kApb4Divider.of(kHalf));
  kClockConfiguration.replace(kClockSwitch, kRunFromPll);
  kClockConfiguration.await(kClockSwitched, kRunFromPll);
}

// Armv7-M ARM B2.2.7: both caches hold nothing after they were invalidated. The data cache has 16
// KB: 4 ways of 128 sets of 32 bytes (Cortex-M7 TRM, 5.1). The mailbox lies in DTCM, which is not
// cached.
void start_caches() {
  asm volatile("dsb\n\tisb" ::: "memory");
  kInvalidateInstructions.write(0);
  for (uint32_t way = 0; way < 4; ++way) {
    for (uint32_t set = 0; set < 128; ++set) kInvalidateDataBySet.write(way << 30 | set << 5);
  }
  asm volatile("dsb\n\tisb" ::: "memory");
  kCacheControl.write(kCacheControl.read() | kInstructionCacheOn.of(1) | kDataCacheOn.of(1));
  asm volatile("dsb\n\tisb" ::: "memory");
}

void start_uart() {
  kKernelClock2.replace(kUsartSource, kUsartFromHsi);
  kGateAhb4.replace(kGatePortD, 1);
  kGateApb1.replace(kGateUsart3, 1);
  (void)kGateApb1.read();
  kPortDFunctionHigh.replace(kFunction8, kUsart3);
  kPortDFunctionHigh.replace(kFunction9, kUsart3);
  kPortDMode.replace(kMode8, kAlternate);
  kPortDMode.replace(kMode9, kAlternate);
  kUartBaud.write(kBaudDivider);
  kUartControl1.write(kUartTransmitEnable.of(1) | kUartReceiveEnable.of(1) | kUartEnable.of(1));
}

}  // namespace

std::string_view board_name() { return "nucleo-h743zi2"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  raise_supply();
  raise_clock();
  start_caches();
  start_uart();
}

void putc(char c) {
  kUartStatus.await(kUartTransmitEmpty, 1);
  kUartTransmit.write(static_cast<uint8_t>(c));
}

int getc() {
  kUartClear.write(kUartClearOverrun.of(1));
  if (kUartStatus.get(kUartReceived) == 0) return -1;
  return static_cast<int>(kUartReceive.read() & 0xFF);
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
