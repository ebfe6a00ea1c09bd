// nRF51 Series Reference Manual 3.0, chapter 29 (UART); processor at 16 MHz.
#include "boards/common/registers.hpp"
#include "firmware/port/port.hpp"
#include "firmware/port/semihosting.hpp"

namespace fw {
namespace {

using boards::Register;

constexpr uint32_t kClockHz = 16'000'000;
constexpr Register<uint32_t> kStartReceive{0x40002000};   // UART0.TASKS_STARTRX
constexpr Register<uint32_t> kStartTransmit{0x40002008};  // UART0.TASKS_STARTTX
constexpr Register<uint32_t> kReceived{0x40002108};       // UART0.EVENTS_RXDRDY
constexpr Register<uint32_t> kSent{0x4000211C};           // UART0.EVENTS_TXDRDY
constexpr Register<uint32_t> kEnable{0x40002500};         // UART0.ENABLE
constexpr Register<uint32_t> kReceive{0x40002518};        // UART0.RXD
constexpr Register<uint32_t> kTransmit{0x4000251C};       // UART0.TXD

}  // namespace

std::string_view board_name() { return "microbit"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  kEnable.write(4);
  kStartReceive.write(1);
  kStartTransmit.write(1);
}

void putc(char c) {
  kSent.write(0);
  kTransmit.write(static_cast<uint8_t>(c));
  while (kSent.read() == 0) {
  }
}

int getc() {
  if (kReceived.read() == 0) return -1;
  kReceived.write(0);
  return static_cast<int>(kReceive.read() & 0xFF);
}

void idle() {}
void exit(int code) { semihosting_exit(code); }

}  // namespace fw
