// The app: mailbox, hello, checks, run, end. Lines: docs/wire.md.
#include <algorithm>

#include "firmware/app/bundle.hpp"
#include "firmware/app/crc32.hpp"
#include "firmware/app/engine.hpp"
#include "firmware/app/guards.hpp"
#include "firmware/app/inject.hpp"
#include "firmware/app/mailbox.hpp"
#include "firmware/app/run.hpp"
#include "firmware/app/wire.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constinit Bundle bundle{};

// Not inlined, like others that are done once: their frames would lie below all that follows.
[[gnu::noinline]] void send_hello(uint64_t nonce, std::span<const std::byte> whole) {
  Line("hello")
      .text("board", board_name())
      .hex("build", build_id())
      .hex64("nonce", nonce)
      .hex32("bundle", crc32(whole))
      .number("bundle_bytes", whole.size())
      .text("engine", engine::name())
      .text("engine_version", engine::version())
      .text("counter", counter_name())
      .number("counter_hz", counter_hz())
      .number("wire", 1)
      .send();
}

// An empty region's ticks (the least of a few: on silicon the first fills caches), whether the
// counter moves at all (DWT reads as zero on emulators and on parts whose trace is locked), and
// whether its wraps are noticed.
[[gnu::noinline]] void send_counter() {
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
      .number("wraps_seen", counter_wraps_are_seen() ? 1 : 0)
      .send();
}

int refuse(const BundleRefusal& why) {
  Line line("error");
  line.text("code", why.code);
  if (why.have != 0 || why.need != 0) line.number("have", why.have).number("need", why.need);
  line.send();
  return kExitError;
}

[[gnu::noinline]] int run_app() {
  const uint64_t nonce = open_mailbox();
  BundleRefusal why = find_bundle(model_slot(), bundle);
  send_hello(nonce, bundle.whole);
  send_counter();
  if (!why.code.empty()) return refuse(why);
  why = open_bundle(static_cast<uint32_t>(guarded_arena().size()), bundle);
  if (!why.code.empty()) return refuse(why);
  if (Inject{bundle.header->inject} == Inject::kCountInstructions) {
    return count_instructions() ? kExitOk : refuse({"inject-unsupported", 0, 0});
  }
  return run_bundle(bundle) ? kExitOk : kExitError;
}

void send_end(std::string_view status) {
  Line("end").text("status", status).number("lines", lines_sent() + 1).send();
  close_mailbox();
}

[[gnu::noinline]] void send_stack() {
  const StackUse stack = stack_use();
  if (stack.have_bytes == 0) return;
  Line("pool")
      .text("name", "stack")
      .number("have", stack.have_bytes)
      .number("used", stack.used_bytes)
      .send();
}

// On a board with a probe: send lines again as long as anyone may ask for them.
[[noreturn]] void take_orders(bool engine_works) {
  for (;;) {
    const LineRange range = next_order();
    send_again(range.first, range.last);
    if (engine_works) send_outputs_again(bundle, range.first, range.last);
  }
}

}  // namespace

int app_main() {
  const int code = run_app();
  send_stack();
  send_end(code == kExitOk ? "ok" : "error");
  if (asked_to_stay()) take_orders(code == kExitOk);
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
  if (asked_to_stay()) take_orders(false);
}

}  // namespace fw
