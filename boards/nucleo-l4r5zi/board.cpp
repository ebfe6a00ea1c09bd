// NUCLEO-L4R5ZI: LPUART1 on PG7 (out) and PG8 (in), which the board's ST-LINK carries to USB
// (UM2179 Rev. 9). Sections are those of RM0432 Rev. 9.
#include "boards/nucleo-l4r5zi/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::stm32l4r5;

constexpr uint32_t kClockHz = 120'000'000;
constexpr uint32_t kHsiHz = 16'000'000;
constexpr uint32_t kPllDivide = 2;
constexpr uint32_t kPllMultiply = 30;
constexpr uint32_t kPllOut = 2;
static_assert(kHsiHz / kPllDivide * kPllMultiply / kPllOut == kClockHz);
constexpr uint32_t kBaud = 115'200;
// 47.4.7: a bit takes BRR / 256 cycles.
constexpr uint32_t kBaudDivider = static_cast<uint32_t>((256ull * kClockHz + kBaud / 2) / kBaud);

constexpr uint32_t kAlternate = 2;     // 8.4.1, MODER
constexpr uint32_t kLpuart1 = 8;       // STM32L4R5 datasheet, alternate functions of port G
constexpr uint32_t kPllFromHsi = 2;    // 6.4.4, PLLSRC
constexpr uint32_t kRunFromPll = 3;    // 6.4.3, SW
constexpr uint32_t kDividedByTwo = 8;  // 6.4.3, HPRE
constexpr uint32_t kUndivided = 0;

void raise_clock() {
  // 5.1.8: Range 1 in boost mode for more than 80 MHz.
  kGateApb11.replace(kGatePower, 1);
  (void)kGateApb11.read();  // 6.2.17: two cycles until a gate is open
  kPowerControl1.replace(kPowerRange, 1);
  kPowerStatus2.await(kPowerRangeChanging, 0);
  kPowerControl5.replace(kPowerNotBoosted, 0);
  // 3.3.3, table "number of wait states": 5 for 120 MHz in boost mode; caches and prefetch on.
  kFlashAccess.write(kFlashLatency.of(5) | kFlashPrefetch.of(1) | kFlashInstructionCache.of(1) |
                     kFlashDataCache.of(1));
  kFlashAccess.await(kFlashLatency, 5);
  kClockControl.replace(kHsiOn, 1);
  kClockControl.await(kHsiReady, 1);
  kPllConfiguration.write(kPllSource.of(kPllFromHsi) | kPllM.of(kPllDivide - 1) |
                          kPllN.of(kPllMultiply) | kPllR.of(kPllOut / 2 - 1) | kPllREnable.of(1));
  kClockControl.replace(kPllOn, 1);
  kClockControl.await(kPllReady, 1);
  // 6.2.9: across 80 MHz by way of half the frequency, for 1 us at least.
  kClockConfiguration.replace(kCoreDivider, kDividedByTwo);
  kClockConfiguration.replace(kClockSwitch, kRunFromPll);
  kClockConfiguration.await(kClockSwitched, kRunFromPll);
  for (uint32_t i = 0; i < 100; ++i) asm volatile("nop");
  kClockConfiguration.replace(kCoreDivider, kUndivided);
}

void start_uart() {
  kPowerControl2.replace(kPowerPortG, 1);  // 5.1.3: PG2 to PG15 have a supply of their own
  kGateAhb2.replace(kGatePortG, 1);
  kGateApb12.replace(kGateLpuart1, 1);
  (void)kGateApb12.read();
  kPortGFunctionLow.replace(kFunction7, kLpuart1);
  kPortGFunctionHigh.replace(kFunction8, kLpuart1);
  kPortGMode.replace(kMode7, kAlternate);
  kPortGMode.replace(kMode8, kAlternate);
  kUartBaud.write(kBaudDivider);
  kUartControl1.write(kUartTransmitEnable.of(1) | kUartReceiveEnable.of(1) | kUartEnable.of(1));
}

}  // namespace

std::string_view board_name() { return "nucleo-l4r5zi"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  raise_clock();
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
