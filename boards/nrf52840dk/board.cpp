// nRF52840-DK: UART0 on P0.06 (out) and P0.08 (in), which the board's J-Link carries to USB
// (nRF52840 DK Hardware 3.0.0, "Virtual serial port"). Product Specification 1.7.
#include "boards/nrf52840dk/registers.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

using namespace boards::nrf52840;

// 5.4: HFCLK is 64 MHz from either source, there is nothing to divide or multiply.
constexpr uint32_t kClockHz = 64'000'000;
constexpr uint32_t kTransmitPin = 6;
constexpr uint32_t kReceivePin = 8;
constexpr uint32_t kBaud115200 = 0x01D60000;  // 6.34.10.14
constexpr uint32_t kUart = 4;                 // 6.34.10.8

}  // namespace

std::string_view board_name() { return "nrf52840dk"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  // The external crystal: the internal oscillator is off by up to 6 %, too much for a UART.
  kHfclkStarted.write(0);
  kHfclkStart.write(1);
  while (kHfclkStarted.read() == 0) {
  }
  // 4.3.6: two wait states of Flash, which the cache hides from most code.
  kInstructionCache.write(kCacheEnable.of(1));
  kPort0Set.write(1u << kTransmitPin);
  kPort0Output.write(1u << kTransmitPin);
  kUartTransmitPin.write(kTransmitPin);
  kUartReceivePin.write(kReceivePin);
  kUartBaud.write(kBaud115200);
  kUartEnable.write(kUartEnabled.of(kUart));
  kUartStartReceive.write(1);
  kUartStartTransmit.write(1);
}

void putc(char c) {
  kUartSent.write(0);
  kUartTransmit.write(static_cast<uint8_t>(c));
  while (kUartSent.read() == 0) {
  }
}

int getc() {
  if (kUartReceived.read() == 0) return -1;
  kUartReceived.write(0);
  return static_cast<int>(kUartReceive.read() & 0xFF);
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
