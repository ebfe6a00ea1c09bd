// nRF52840-DK: UART0 on P0.06 (out) and P0.08 (in), which the board's J-Link carries to USB.
// nRF52840 Product Specification 1.7: 5.4 CLOCK, 6.34 UART.
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr uint32_t kClockHz = 64'000'000;
constexpr uint32_t kTransmitPin = 6;
constexpr uint32_t kReceivePin = 8;
constexpr uint32_t kBaud115200 = 0x01D60000;
constexpr uint32_t kEnableUart = 4;

volatile uint32_t& reg(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// The external crystal: the internal oscillator is off by up to 6 %, too much for a UART.
volatile uint32_t& clock_start() { return reg(0x40000000); }
volatile uint32_t& clock_started() { return reg(0x40000100); }

volatile uint32_t& gpio0_set() { return reg(0x50000508); }
volatile uint32_t& gpio0_direction_set() { return reg(0x50000518); }

volatile uint32_t& start_receive() { return reg(0x40002000); }
volatile uint32_t& start_transmit() { return reg(0x40002008); }
volatile uint32_t& received() { return reg(0x40002108); }
volatile uint32_t& sent() { return reg(0x4000211C); }
volatile uint32_t& enable() { return reg(0x40002500); }
volatile uint32_t& transmit_pin() { return reg(0x4000250C); }
volatile uint32_t& receive_pin() { return reg(0x40002514); }
volatile uint32_t& receive_data() { return reg(0x40002518); }
volatile uint32_t& transmit_data() { return reg(0x4000251C); }
volatile uint32_t& baud() { return reg(0x40002524); }

}  // namespace

std::string_view board_name() { return "nrf52840dk"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  clock_started() = 0;
  clock_start() = 1;
  while (clock_started() == 0) {
  }
  gpio0_set() = 1u << kTransmitPin;
  gpio0_direction_set() = 1u << kTransmitPin;
  transmit_pin() = kTransmitPin;
  receive_pin() = kReceivePin;
  baud() = kBaud115200;
  enable() = kEnableUart;
  start_receive() = 1;
  start_transmit() = 1;
}

void putc(char c) {
  sent() = 0;
  transmit_data() = static_cast<uint8_t>(c);
  while (sent() == 0) {
  }
}

int getc() {
  if (received() == 0) return -1;
  received() = 0;
  return static_cast<int>(receive_data() & 0xFF);
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
