// The port: what the app asks of a board, and what the port asks of the app.
//
// firmware/port implements it for Cortex-M from the linker's symbols, boards/<id>/board.cpp adds
// the board; boards/host implements all of it for a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fw {

// --- Given by boards/<id>/board.cpp ---

/** Name as in board.toml. */
std::string_view board_name();

/** Frequency of the processor clock in Hz, after `board_start`. */
uint32_t board_clock_hz();

/** Bring up clocks and the serial port. Called once, before `app_main`. */
void board_start();

/** Send one byte, wait while the transmitter is full. */
void putc(char c);

/** @return the next received byte, or -1 if there is none. */
int getc();

/** Called while the app has nothing to do. */
void idle();

/** End the run. An emulator or process ends with `code`; a board waits for ever. */
[[noreturn]] void exit(int code);

// --- Given by the port: the counter ---

/** `systick`, `dwt` or `clock`. */
std::string_view counter_name();

/** Ticks a second. */
uint32_t counter_hz();

/** Instructions that the counter itself adds to a window at each of its wraps, 0 if it has none. */
uint32_t counter_wrap_instructions();

/** Ticks from one wrap to the next, as a power of two; 64 if it does not wrap. */
uint32_t counter_wrap_bits();

/** @return whether each wrap of the hardware counter is noticed; true if it does not wrap. Uses the
 * counter. */
bool counter_wraps_are_seen();

/** Start a window: the count begins at zero, whatever came before. */
void counter_restart();

/** @return ticks since `counter_restart`, 64 bits wide. Needs no lock. */
uint64_t counter_read();

// --- Given by the port: the image and its memory ---

/** GNU build id of the running image, 20 bytes. */
std::span<const std::byte> build_id();

/** Where the bundle lies. Its bytes are whatever was written there. */
std::span<const std::byte> model_slot();

/** Memory for the engine, 16-byte aligned, contents undefined. */
std::span<std::byte> arena();

/** docs/bundle.md, "Mailbox". */
struct Mailbox {
  uint32_t magic;
  uint32_t version;
  uint32_t nonce_low;
  uint32_t nonce_high;
  uint32_t command;
  uint32_t argument0;
  uint32_t argument1;
  uint32_t state;
};
static_assert(sizeof(Mailbox) == 32);

volatile Mailbox& mailbox();

/** Bytes of the stack, and how many were ever written. Both 0 where the port does not paint one. */
struct StackUse {
  uint32_t have_bytes;
  uint32_t used_bytes;
};
StackUse stack_use();

// --- Given by the port: faults made on purpose, and a known amount of work ---

/** Execute an instruction that no processor has. */
[[noreturn]] void undefined_instruction();

/** @return whether `time_instructions` can be called: false for a process. */
bool can_time_instructions();

/** A window around exactly `2 * pairs` instructions. @return its ticks. */
uint64_t time_instructions(uint32_t pairs);

// --- Given by the app ---

/** A processor fault. Registers that could not be saved (the stack was gone) are 0. */
struct Fault {
  std::string_view type;
  uint32_t pc, lr, sp, xpsr, cfsr, hfsr, mmfar, bfar;
};

/** Report `fault`; the port exits with `kExitFault` afterwards. */
void app_fault(const Fault& fault);

/** The whole run. @return the exit code. */
int app_main();

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitFault = 2;

}  // namespace fw
