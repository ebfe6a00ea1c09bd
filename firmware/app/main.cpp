// The app: mailbox, hello, checks, run, end. Lines: docs/wire.md.
#include <algorithm>

#include "firmware/app/bundle.hpp"
#include "firmware/app/crc32.hpp"
#include "firmware/app/engine.hpp"
#include "firmware/app/inject.hpp"
#include "firmware/app/run.hpp"
#include "firmware/app/wire.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr uint32_t kMailboxMagic = 0x58424D4C;
constexpr uint32_t kMailboxVersion = 1;
constexpr uint32_t kMailboxBusy = 0;
constexpr uint32_t kMailboxIdle = 1;

// @return 0 if nobody wrote the mailbox.
uint64_t read_nonce() {
  volatile Mailbox& box = mailbox();
  box.state = kMailboxBusy;
  if (box.magic != kMailboxMagic || box.version != kMailboxVersion) return 0;
  const uint32_t low = box.nonce_low;
  return uint64_t{box.nonce_high} << 32 | low;
}

void send_hello(uint64_t nonce, std::span<const std::byte> bundle) {
  Line("hello")
      .text("board", board_name())
      .hex("build", build_id())
      .hex64("nonce", nonce)
      .hex32("bundle", crc32(bundle))
      .number("bundle_bytes", bundle.size())
      .text("engine", engine::name())
      .text("engine_version", engine::version())
      .text("counter", counter_name())
      .number("counter_hz", counter_hz())
      .number("wire", 1)
      .send();
}

// An empty region's ticks (the least of a few: on silicon the first fills caches), and whether the
// counter moves at all: DWT reads as zero on emulators and on parts whose trace is locked.
void send_counter() {
  uint64_t overhead = ~uint64_t{0};
  for (int i = 0; i < 4; ++i) {
    counter_restart();
    overhead = std::min(overhead, counter_read());
  }
  bool moved = false;
  counter_restart();
  for (int i = 0; i < 10'000 && !moved; ++i) moved = counter_read() != 0;
  Line("counter")
      .number("moved", moved ? 1 : 0)
      .number("overhead", overhead)
      .number("wrap_bits", counter_wrap_bits())
      .number("wrap_instructions", counter_wrap_instructions())
      .send();
}

int refuse(const BundleRefusal& why) {
  Line line("error");
  line.text("code", why.code);
  if (why.have != 0 || why.need != 0) line.number("have", why.have).number("need", why.need);
  line.send();
  return kExitError;
}

int run_app() {
  const uint64_t nonce = read_nonce();
  Bundle bundle{};
  BundleRefusal why = find_bundle(model_slot(), bundle);
  send_hello(nonce, bundle.whole);
  send_counter();
  if (!why.code.empty()) return refuse(why);
  why = open_bundle(static_cast<uint32_t>(arena().size()), bundle);
  if (!why.code.empty()) return refuse(why);
  if (Inject{bundle.header->inject} == Inject::kCountInstructions) {
    return count_instructions() ? kExitOk : refuse({"inject-unsupported", 0, 0});
  }
  return run_bundle(bundle) ? kExitOk : kExitError;
}

void send_end(std::string_view status) {
  Line("end").text("status", status).number("lines", lines_sent() + 1).send();
  mailbox().state = kMailboxIdle;
}

}  // namespace

int app_main() {
  const int code = run_app();
  if (const StackUse stack = stack_use(); stack.have_bytes != 0) {
    Line("pool")
        .text("name", "stack")
        .number("have", stack.have_bytes)
        .number("used", stack.used_bytes)
        .send();
  }
  send_end(code == kExitOk ? "ok" : "error");
  return code;
}

void app_fault(const Fault& fault) {
  abandon_line();
  Line("fault")
      .text("type", fault.type)
      .hex32("pc", fault.pc)
      .hex32("lr", fault.lr)
      .hex32("sp", fault.sp)
      .hex32("xpsr", fault.xpsr)
      .hex32("cfsr", fault.cfsr)
      .hex32("hfsr", fault.hfsr)
      .hex32("mmfar", fault.mmfar)
      .hex32("bfar", fault.bfar)
      .send();
  send_end("fault");
}

}  // namespace fw
