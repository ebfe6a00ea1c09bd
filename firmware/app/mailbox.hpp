// The mailbox in RAM: what the host asks for before the run and, through a debug probe, after it.
// Layout and commands: docs/bundle.md.
#pragma once

#include <cstdint>

namespace fw {

/** Read what the host wrote before the core ran, and say that the device is busy.
 *
 * @return the nonce, 0 if nobody wrote the mailbox. */
uint64_t open_mailbox();

/** @return whether the app is to stay after its end line and take orders. */
bool asked_to_stay();

/** Say that everything measured has been sent, and wait for the order to go on. A debugger may come
 * now: nothing that follows is measured.
 *
 * @param remind called after a second, and then after twice the time each: its line may get lost.
 */
void wait_to_go_on(void (*remind)());

/** Say that the run is over. */
void close_mailbox();

/** Lines by number, both ends included. */
struct LineRange {
  uint32_t first;
  uint32_t last;
};

/** Say that the device is idle, wait for an order to send lines again, and say that it is busy. */
LineRange next_order();

}  // namespace fw
