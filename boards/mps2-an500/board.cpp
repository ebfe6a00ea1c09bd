// Arm application note 500: UART0 at 0x40004000, processor at 25 MHz.
#include "boards/common/cmsdk_uart.hpp"
#include "firmware/port/port.hpp"
#include "firmware/port/semihosting.hpp"

namespace fw {
namespace {

constexpr uint32_t kClockHz = 25'000'000;
volatile boards::CmsdkUart& uart() {
  return *reinterpret_cast<volatile boards::CmsdkUart*>(0x40004000);
}

}  // namespace

std::string_view board_name() { return "mps2-an500"; }
uint32_t board_clock_hz() { return kClockHz; }
void board_start() { uart().start(kClockHz, 115'200); }
void putc(char c) { uart().putc(c); }
int getc() { return uart().getc(); }
void idle() {}
void exit(int code) { semihosting_exit(code); }

}  // namespace fw
