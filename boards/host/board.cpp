// The host: the app as a process, lab.elf --bundle FILE --mailbox FILE. Lines go to standard
// output, time is CLOCK_MONOTONIC, faults are signals, fault injection that needs a core is
// refused.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr uint32_t kNanosecondsPerSecond = 1'000'000'000;
constexpr size_t kArenaBytes = 64u << 20;
constexpr int kExitUsage = 64;

alignas(64) std::byte arena_bytes[kArenaBytes];
std::span<const std::byte> slot;
Mailbox box;
std::array<char, 1 << 16> pending;
size_t pending_bytes;
uint64_t window_start;

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(time.tv_nsec);
}

// Only write(2): it is safe in a signal handler.
void flush() {
  size_t done = 0;
  while (done < pending_bytes) {
    const ssize_t count = write(STDOUT_FILENO, pending.data() + done, pending_bytes - done);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  pending_bytes = 0;
}

[[noreturn]] void fail(const char* what, const char* where) {
  for (const char* text : {"lab: ", what, ": ", where, "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  _exit(kExitUsage);
}

// A block of exactly the file's size, aligned as the slot is, so that a sanitizer sees a read past
// it.
std::span<const std::byte> read_file(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) fail("cannot read", path);
  const auto bytes = static_cast<size_t>(status.st_size);
  void* start = nullptr;
  if (posix_memalign(&start, 16, bytes) != 0) fail("no memory for", path);
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = read(file, static_cast<std::byte*>(start) + done, bytes - done);
    if (count <= 0) fail("cannot read", path);
    done += static_cast<size_t>(count);
  }
  close(file);
  return {static_cast<const std::byte*>(start), bytes};
}

void read_options(int count, char** values) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = values[i];
    const std::span<const std::byte> content = read_file(values[i + 1]);
    if (option == "--bundle") {
      slot = content;
    } else if (option == "--mailbox") {
      std::memcpy(&box, content.data(), std::min(content.size(), sizeof box));
    } else {
      fail("unknown option", values[i]);
    }
  }
  if (count % 2 == 0) fail("option without a value", values[count - 1]);
}

std::string_view type_of(int signal_number) {
  switch (signal_number) {
    case SIGSEGV:
      return "segv";
    case SIGBUS:
      return "bus";
    case SIGILL:
      return "ill";
    case SIGFPE:
      return "fpe";
    default:
      return "abort";
  }
}

#if defined(__x86_64__)
uint64_t program_counter(const ucontext_t& state) {
  return static_cast<uint64_t>(state.uc_mcontext.gregs[REG_RIP]);
}
uint64_t stack_pointer(const ucontext_t& state) {
  return static_cast<uint64_t>(state.uc_mcontext.gregs[REG_RSP]);
}
#elif defined(__aarch64__)
uint64_t program_counter(const ucontext_t& state) { return state.uc_mcontext.pc; }
uint64_t stack_pointer(const ucontext_t& state) { return state.uc_mcontext.sp; }
#else
uint64_t program_counter(const ucontext_t&) { return 0; }
uint64_t stack_pointer(const ucontext_t&) { return 0; }
#endif

// An access this close to the stack pointer, in either direction, is the stack's own.
constexpr uint64_t kStackReach = 64u << 10;

// Addresses are cut to 32 bits: the executable is linked below 4 GB, so those of code are whole.
void on_signal(int signal_number, siginfo_t* info, void* context) {
  const auto& state = *static_cast<const ucontext_t*>(context);
  const uint64_t sp = stack_pointer(state);
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const bool stack = signal_number == SIGSEGV && address - (sp - kStackReach) < 2 * kStackReach;
  Fault fault{};
  fault.type = stack ? "stack_overflow" : type_of(signal_number);
  fault.pc = static_cast<uint32_t>(program_counter(state));
  fault.sp = static_cast<uint32_t>(sp);
  fault.bfar =
      signal_number == SIGSEGV || signal_number == SIGBUS ? static_cast<uint32_t>(address) : 0;
  app_fault(fault);
  flush();
  _exit(kExitFault);
}

void catch_faults() {
  // The handler needs a stack of its own: the other may be what is gone.
  alignas(16) static std::array<std::byte, 1 << 16> alternate;
  stack_t stack{};
  stack.ss_sp = alternate.data();
  stack.ss_size = alternate.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
}

int find_build_id(dl_phdr_info* info, size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
    const std::byte* const end = at + header.p_memsz;
    while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::byte* const description = at + sizeof note + ((note.n_namesz + 3) & ~3u);
      if (note.n_type == NT_GNU_BUILD_ID) {
        *static_cast<std::span<const std::byte>*>(result) = {description, note.n_descsz};
        return 1;
      }
      at = description + ((note.n_descsz + 3) & ~3u);
    }
  }
  return 1;  // the first object is the executable
}

}  // namespace

std::string_view board_name() { return "host"; }
uint32_t board_clock_hz() { return kNanosecondsPerSecond; }
void board_start() { catch_faults(); }

void putc(char c) {
  if (pending_bytes == pending.size()) flush();
  pending[pending_bytes++] = c;
  if (c == '\n') flush();
}

int getc() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  unsigned char byte = 0;
  return poll(&input, 1, 0) == 1 && read(STDIN_FILENO, &byte, 1) == 1 ? byte : -1;
}

void idle() {}

void exit(int code) {
  flush();
  _exit(code);
}

std::string_view counter_name() { return "clock"; }
uint32_t counter_hz() { return kNanosecondsPerSecond; }
uint32_t counter_wrap_instructions() { return 0; }
uint32_t counter_wrap_bits() { return 64; }
bool counter_wraps_are_seen() { return true; }
void counter_restart() { window_start = now(); }
uint64_t counter_read() { return now() - window_start; }

bool can_time_instructions() { return false; }
uint64_t time_instructions(uint32_t) { return 0; }

std::span<const std::byte> build_id() {
  std::span<const std::byte> id;
  dl_iterate_phdr(find_build_id, &id);
  return id;
}

std::span<const std::byte> model_slot() { return slot; }
std::span<std::byte> arena() { return arena_bytes; }
volatile Mailbox& mailbox() { return box; }
StackUse stack_use() { return {0, 0}; }

void undefined_instruction() { __builtin_trap(); }

}  // namespace fw

int main(int count, char** values) {
  fw::read_options(count, values);
  fw::board_start();
  fw::exit(fw::app_main());
}
