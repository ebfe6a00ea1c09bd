// LPCXpresso55S69-EVK, core 0: USART0 on PIO0_29 (in) and PIO0_30 (out), which the board's probe
// carries to USB (UM11158, LPCXpresso55S69 board). Sections are those of UM11126 Rev. 2.4.
// The core is in Secure state from reset on; without an SAU region the addresses below are Secure
// too.
#include "boards/lpc55s69-evk/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::lpc55s69;

// The internal oscillator of 96 MHz: 150 MHz would need the supply's level set by trim values that
// the manual leaves to the vendor's library.
constexpr uint32_t kClockHz = 96'000'000;
constexpr uint32_t kUsartHz = 12'000'000;
constexpr uint32_t kBaud = 115'200;
constexpr uint32_t kOversample = 13;  // 12 MHz / 13 / 8 is 115,385 Hz, 0.16 % off
constexpr uint32_t kUsartDivide = (kUsartHz / kOversample + kBaud / 2) / kBaud;
static_assert(kUsartDivide == 8);

enum MainClock : uint32_t { kOscillator96 = 3 };      // 4.5.34, MAINCLKSELA[SEL]
enum FlexcommClock : uint32_t { kOscillator12 = 2 };  // 4.5.41, FCCLKSEL0[SEL]

}  // namespace

std::string_view board_name() { return "lpc55s69-evk"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  // 4.5.56: 9 system clocks a Flash access up to 100 MHz, before the clock rises; the accelerator's
  // buffers and prefetch are on after reset.
  kFlashControl.replace(kFlashTime, 8);
  kFreeOscillator.write(kFreeOscillator.read() | kOscillator12Mhz.of(1) | kOscillator96Mhz.of(1));
  kCoreDivider.replace(kCoreDividerValue, 0);
  kMainClockA.write(kMainClockSource.of(kOscillator96));
  kMainClockB.write(0);

  kClockGate0.replace(kGateIocon, 1);
  kClockGate1.replace(kGateFlexcomm0, 1);
  kFlexcomm0Clock.write(kFlexcomm0Source.of(kOscillator12));
  kPinReceive.write(kPinFunction.of(1) | kPinDigital.of(1));
  kPinTransmit.write(kPinFunction.of(1) | kPinDigital.of(1));
  kFlexcommFunction.write(kFlexcommSelect.of(1));  // 33.7.1: USART
  kUsartOversample.write(kOversample - 1);
  kUsartBaud.write(kUsartDivide - 1);
  kFifoConfiguration.write(kFifoTransmitEnable.of(1) | kFifoReceiveEnable.of(1));
  kUsartConfiguration.write(kUsartDataBits.of(1) | kUsartEnable.of(1));
}

void putc(char c) {
  kFifoStatus.await(kFifoTransmitReady, 1);
  kFifoWrite.write(static_cast<uint8_t>(c));
}

int getc() {
  if (kFifoStatus.get(kFifoReceived) == 0) return -1;
  return static_cast<int>(kFifoRead.read() & 0xFF);
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
