// FRDM-K64F: UART0 on PTB16 (in) and PTB17 (out), which OpenSDA carries to USB; a 50 MHz clock at
// EXTAL0 (FRDM-K64F User's Guide Rev. 1). Sections are those of the K64 Reference Manual Rev. 4.
#include "boards/frdm-k64f/registers.hpp"
#include "firmware/port/memory.hpp"
#include "firmware/port/port.hpp"

extern "C" [[noreturn]] void reset_handler();

namespace fw {
namespace {

using namespace boards::k64;

constexpr uint32_t kClockHz = 120'000'000;
constexpr uint32_t kExternalHz = 50'000'000;
constexpr uint32_t kPllDivide = 20;
constexpr uint32_t kPllMultiply = 48;
static_assert(kExternalHz / kPllDivide * kPllMultiply == kClockHz);
constexpr uint32_t kBaud = 115'200;
// 52.3: a bit takes 16 * (SBR + BRFA / 32) cycles of the module's clock, which is the core's.
constexpr uint32_t kBaudDivider32 = (kClockHz * 2 + kBaud / 2) / kBaud;

enum Source : uint32_t { kPllOrFll = 0, kExternal = 2 };       // 25.3.1, C1[CLKS]
enum SourceStatus : uint32_t { kIsExternal = 2, kIsPll = 3 };  // 25.3.7, S[CLKST]

// 23.3.1: two words within 20 bus cycles, then 256 bus cycles in which registers can be written.
void stop_watchdog() {
  kWatchdogUnlock.write(0xC520);
  kWatchdogUnlock.write(0xD928);
  kWatchdogControl.write((kWatchdogControl.read() & ~kWatchdogEnable.mask()) |
                         kWatchdogAllowUpdate.of(1));
}

// 25.5.3: FEI -> FBE -> PBE -> PEE.
void start_pll() {
  // 5.5.1: core 120, bus 60, FlexBus 40, Flash 24 MHz (at most 120, 60, 50, 25), before the clock
  // rises. The Flash controller takes its wait states from the ratio, and its buffers and cache are
  // on after reset (28.4.1).
  kClockDividers.write(kCoreDivider.of(0) | kBusDivider.of(1) | kFlexBusDivider.of(2) |
                       kFlashDivider.of(4));
  kMcgC2.write((kMcgC2.read() & ~(kOscillatorRange.mask() | kOscillatorCrystal.mask())) |
               kOscillatorRange.of(2) | kOscillatorCrystal.of(0));
  // 50 MHz / 1280 is the 31.25 to 39.0625 kHz that the FLL wants, used or not.
  kMcgC1.write(kClockSource.of(kExternal) | kFllDivider.of(6) | kFllInternal.of(0));
  kMcgStatus.await(kStatusFllInternal, 0);
  kMcgStatus.await(kStatusSource, kIsExternal);
  kMcgC5.write(kPllDivider.of(kPllDivide - 1));
  kMcgC6.write(kPllSelect.of(1) | kPllMultiplier.of(kPllMultiply - 24));
  kMcgStatus.await(kStatusPll, 1);
  kMcgStatus.await(kStatusLocked, 1);
  kMcgC1.replace(kClockSource, kPllOrFll);
  kMcgStatus.await(kStatusSource, kIsPll);
}

void start_uart() {
  kClockGate4.replace(kGateUart0, 1);
  kClockGate5.replace(kGatePortB, 1);
  kPinReceive.write(kPinFunction.of(3));  // 10.3.1: ALT3 is UART0
  kPinTransmit.write(kPinFunction.of(3));
  kUartControl2.write(0);
  kUartBaudHigh.write(kUartDividerHigh.of(kBaudDivider32 / 32 >> 8));
  kUartBaudLow.write(kBaudDivider32 / 32 & 0xFF);
  kUartControl4.write(kUartDividerFine.of(kBaudDivider32 % 32));
  kUartControl2.write(kUartTransmitEnable.of(1) | kUartReceiveEnable.of(1));
}

// 29.3.1: the Flash configuration field, read at reset. Anything but unsecured locks the chip.
struct FlashConfiguration {
  uint8_t backdoor_key[8];
  uint8_t protect_program[4];
  uint8_t security;
  uint8_t option;
  uint8_t protect_eeprom;
  uint8_t protect_data;
};
static_assert(sizeof(FlashConfiguration) == 16);

// What the core reads at address 0; the image's own vectors lie behind the configuration field.
struct BootVectors {
  uint32_t* stack_top;
  void (*reset)();
};

}  // namespace

[[gnu::section(".boot_vectors"), gnu::used]] extern const BootVectors kBootVectors = {
    lab_stack_top, reset_handler};
[[gnu::section(".flash_configuration"),
  gnu::used]] extern const FlashConfiguration kFlashConfiguration = {
    .backdoor_key = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
    .protect_program = {0xFF, 0xFF, 0xFF, 0xFF},
    .security = 0xFE,
    .option = 0xFF,
    .protect_eeprom = 0xFF,
    .protect_data = 0xFF,
};

std::string_view board_name() { return "frdm-k64f"; }
uint32_t board_clock_hz() { return kClockHz; }

void board_start() {
  stop_watchdog();
  start_pll();
  start_uart();
}

void putc(char c) {
  kUartStatus1.await(kUartTransmitEmpty, 1);
  kUartData.write(static_cast<uint8_t>(c));
}

int getc() {
  return kUartStatus1.get(kUartReceiveFull) != 0 ? static_cast<int>(kUartData.read()) : -1;
}

void idle() {}

void exit(int) {
  for (;;) {
  }
}

}  // namespace fw
