// Raspberry Pi Pico: UART0 on GP0 (out) and GP1 (in), which go to the Debug Probe's serial
// connector (Pico Datasheet, pinout). Chapters are those of the RP2040 Datasheet. Core 1 stays in
// the ROM.
#include "boards/rpi-pico/boot2.hpp"
#include "boards/rpi-pico/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::rp2040;

[[gnu::section(".second_stage"), gnu::used]] constexpr std::array kBoot2 = second_stage();

constexpr uint32_t kClockHz = 133'000'000;
constexpr uint32_t kCrystalHz = 12'000'000;
// "PLL": the oscillator runs at 750 to 1600 MHz.
constexpr uint32_t kMultiply = 133;
constexpr uint32_t kDivide1 = 6;
constexpr uint32_t kDivide2 = 2;
static_assert(kCrystalHz * kMultiply / (kDivide1 * kDivide2) == kClockHz);
static_assert(kCrystalHz / 1'000'000 * kMultiply <= 1600);

constexpr uint32_t kBaud = 115'200;
// "UART": the divider has six bits of fraction.
constexpr uint32_t kBaudDivider = (4 * kClockHz + kBaud / 2) / kBaud;

constexpr uint32_t kRange1To15Mhz = 0xAA0;  // XOSC.CTRL
constexpr uint32_t kEnableCrystal = 0xFAB;
constexpr uint32_t kOneMillisecond = kCrystalHz / 1000 / 256;  // XOSC.STARTUP, in 256 periods
constexpr uint32_t kFromCrystal = 2;                           // CLK_REF_CTRL.SRC
constexpr uint32_t kFromReference = 0;                         // CLK_SYS_CTRL.SRC
constexpr uint32_t kFromAuxiliary = 1;
constexpr uint32_t kPllSystem = 0;    // CLK_SYS_CTRL.AUXSRC
constexpr uint32_t kSystemClock = 0;  // CLK_PERI_CTRL.AUXSRC
constexpr uint32_t kUart = 2;         // "GPIO", function select: F2
constexpr uint32_t kEightBits = 3;    // UARTLCR_H.WLEN

// "Clocks": SELECTED has a bit a source; the glitchless switch has arrived when its bit is set.
void select(const boards::Register<uint32_t>& control, boards::Field field, uint32_t source,
            const boards::Register<uint32_t>& selected) {
  control.replace(field, source);
  while (selected.read() != 1u << source) {
  }
}

void release(boards::Field block) {
  kReset.replace(block, 1);
  kReset.replace(block, 0);
  kResetDone.await(block, 1);
}

void raise_clock() {
  kCrystalStartup.write(kCrystalDelay.of(kOneMillisecond));
  kCrystal.write(kCrystalRange.of(kRange1To15Mhz) | kCrystalEnable.of(kEnableCrystal));
  kCrystalStatus.await(kCrystalStable, 1);
  // Off the PLL, whatever ran before, then on the crystal.
  select(kSystem, kSystemSource, kFromReference, kSystemSelected);
  select(kReference, kReferenceSource, kFromCrystal, kReferenceSelected);
  release(kResetPll);
  kPllStatus.replace(kPllReferenceDivider, 1);
  kPllMultiply.write(kMultiply);
  kPllPower.replace(kPllDown, 0);
  kPllPower.replace(kPllOscillatorDown, 0);
  kPllStatus.await(kPllLock, 1);
  kPllDivide.write(kPllDivide1.of(kDivide1) | kPllDivide2.of(kDivide2));
  kPllPower.replace(kPllDividerDown, 0);
  kSystem.replace(kSystemAuxiliary, kPllSystem);
  select(kSystem, kSystemSource, kFromAuxiliary, kSystemSelected);
}

void start_uart() {
  kPeripheral.write(kPeripheralAuxiliary.of(kSystemClock) | kPeripheralEnable.of(1));
  release(kResetPins);
  release(kResetPads);
  release(kResetUart);
  kPin0.replace(kPin0Function, kUart);
  kPin1.replace(kPin1Function, kUart);
  // "UART": the line control is written last, it takes the dividers over.
  kUartBaud.write(kBaudDivider >> 6);
  kUartBaudFraction.write(kBaudDivider & 63);
  kUartLine.write(kUartWordLength.of(kEightBits) | kUartFifo.of(1));
  kUartControl.write(kUartEnable.of(1) | kUartTransmitEnable.of(1) | kUartReceiveEnable.of(1));
}

}  // namespace

std::string_view board_name() { return "rpi-pico"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  kFlashCache.replace(kFlashCacheEnable, 1);
  raise_clock();
  start_uart();
}

void putc(char c) {
  kUartFlags.await(kUartTransmitFull, 0);
  kUartData.write(static_cast<uint8_t>(c));
}

int getc() {
  if (kUartFlags.get(kUartReceiveEmpty) != 0) return -1;
  return static_cast<int>(kUartData.read() & 0xFF);
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
