#include "firmware/app/inject.hpp"

#include "firmware/app/engine.hpp"
#include "firmware/app/wire.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

volatile bool always = true;

// Recursion on purpose; the volatile array keeps each frame, the addition keeps the call from
// becoming a jump.
uint32_t overflow_stack(uint32_t depth) {  // NOLINT(misc-no-recursion)
  volatile uint32_t frame[16];
  frame[depth % 16] = depth;
  return always ? overflow_stack(depth + 1) + frame[depth % 16] : depth;
}

}  // namespace

void inject_in_inference(Inject inject) {
  switch (inject) {
    case Inject::kHang:
      while (always) {
      }
      break;
    case Inject::kUndefinedInstruction:
      undefined_instruction();
    case Inject::kStackOverflow:
      overflow_stack(0);
      break;
    case Inject::kNone:
    case Inject::kStopWithoutEnd:
    case Inject::kCountInstructions:
    case Inject::kWriteInFront:
    case Inject::kWriteBehind:
    case Inject::kWriteFixed:
    case Inject::kWriteInFrontOutput:
    case Inject::kWriteBehindOutput:
      break;
  }
}

void inject_write(Inject inject, const Guards& guards, uint32_t last) {
  const std::span<const std::byte> output = engine::result(last);
  const std::byte* at = nullptr;
  if (inject == Inject::kWriteInFront) at = guards.front().data();
  if (inject == Inject::kWriteBehind) at = guards.behind().data();
  if (inject == Inject::kWriteFixed) at = guards.fixed().data();
  if (inject == Inject::kWriteInFrontOutput) at = output.data() - 1;
  if (inject == Inject::kWriteBehindOutput) at = output.data() + output.size();
  if (at != nullptr) *const_cast<std::byte*>(at) ^= std::byte{1};
}

bool count_instructions() {
  if (!can_time_instructions()) return false;
  // The last is several wraps of a 24-bit counter.
  for (const uint32_t instructions : {10u, 1'000u, 1'000'000u, 50'000'000u}) {
    const uint64_t ticks = time_instructions(instructions / 2);
    Line("count").number("instructions", instructions).number("ticks", ticks).send();
  }
  return true;
}

}  // namespace fw
