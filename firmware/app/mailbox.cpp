#include "firmware/app/mailbox.hpp"

#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr uint32_t kMagic = 0x58424D4C;
constexpr uint32_t kVersion = 1;
constexpr uint32_t kBusy = 0;
constexpr uint32_t kIdle = 1;
constexpr uint32_t kNoCommand = 0;
constexpr uint32_t kSendAgain = 1;
constexpr uint32_t kStay = 2;

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
