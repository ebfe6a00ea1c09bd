#include "firmware/app/mailbox.hpp"

#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr uint32_t kMagic = 0x58424D4C;
constexpr uint32_t kVersion = 1;
constexpr uint32_t kBusy = 0;
constexpr uint32_t kIdle = 1;
constexpr uint32_t kMeasured = 2;
constexpr uint32_t kNoCommand = 0;
constexpr uint32_t kSendAgain = 1;
constexpr uint32_t kStay = 2;
constexpr uint32_t kGoOn = 3;

bool stay;

}  // namespace

uint64_t open_mailbox() {
  volatile Mailbox& box = mailbox();
  box.state = kBusy;
  if (box.magic != kMagic || box.version != kVersion) return 0;
  stay = box.command == kStay;
  box.command = kNoCommand;
  const uint32_t low = box.nonce_low;
  return uint64_t{box.nonce_high} << 32 | low;
}

bool asked_to_stay() { return stay; }

void wait_to_go_on(void (*remind)()) {
  volatile Mailbox& box = mailbox();
  box.state = kMeasured;
  uint64_t wait_ticks = counter_hz();
  counter_restart();
  while (box.command != kGoOn) {
    idle();
    if (counter_read() < wait_ticks) continue;
    remind();
    wait_ticks *= 2;
    counter_restart();
  }
  box.state = kBusy;
  box.command = kNoCommand;
}

void close_mailbox() { mailbox().state = kIdle; }

LineRange next_order() {
  volatile Mailbox& box = mailbox();
  box.state = kIdle;
  while (box.command != kSendAgain) idle();
  box.state = kBusy;
  const LineRange range{box.argument0, box.argument1};
  // Last: the host takes a command that is gone for one that was understood.
  box.command = kNoCommand;
  return range;
}

}  // namespace fw
