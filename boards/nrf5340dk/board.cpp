// nRF5340-DK, application core: UARTE0 on P0.20 (out) and P0.22 (in), which the board's J-Link
// carries to USB (nRF5340 DK Hardware 2.0.0, "Virtual serial port"). Product Specification 1.3.
// The core is in Secure state from reset on, and stays there.
#include "boards/nrf5340dk/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::nrf5340;

constexpr uint32_t kClockHz = 128'000'000;
constexpr uint32_t kDividedByOne = 0;  // 4.9.4: 128 MHz; reset leaves 1, which is 64 MHz
constexpr uint32_t kTransmitPin = 20;
constexpr uint32_t kReceivePin = 22;
constexpr uint32_t kBaud115200 = 0x01D60000;  // 7.37.9.29
constexpr uint32_t kUarte = 8;                // 7.37.9.22

// EasyDMA reaches RAM alone, and bytes lie there until it has taken or brought them.
volatile uint8_t sending;
volatile uint8_t arriving;

uint32_t address_of(volatile uint8_t& byte) { return reinterpret_cast<uint32_t>(&byte); }

}  // namespace

std::string_view board_name() { return "nrf5340dk"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  // 7.2: the instruction and data cache in front of Flash, off at reset.
  kCacheEnable.write(1);
  kHfclkControl.write(kHfclkDivider.of(kDividedByOne));
  // The external crystal: the internal oscillator is too far off for a UART.
  kHfclkStarted.write(0);
  kHfclkStart.write(1);
  while (kHfclkStarted.read() == 0) {
  }
  kPort0Set.write(1u << kTransmitPin);
  kPort0Output.write(1u << kTransmitPin);
  kUartTransmitPin.write(kTransmitPin);
  kUartReceivePin.write(kReceivePin);
  kUartBaud.write(kBaud115200);
  kUartEnable.write(kUarte);
  kUartTransmitPointer.write(address_of(sending));
  kUartTransmitCount.write(1);
  kUartReceivePointer.write(address_of(arriving));
  kUartReceiveCount.write(1);
  kUartReceiveEnd.write(0);
  kUartStartReceive.write(1);
}

void putc(char c) {
  sending = static_cast<uint8_t>(c);
  kUartTransmitEnd.write(0);
  kUartStartTransmit.write(1);
  while (kUartTransmitEnd.read() == 0) {
  }
}

int getc() {
  if (kUartReceiveEnd.read() == 0) return -1;
  const int c = arriving;
  kUartReceiveEnd.write(0);
  kUartStartReceive.write(1);
  return c;
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
