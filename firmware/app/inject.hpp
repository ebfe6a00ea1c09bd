// Faults that the image makes on purpose, so that the host's answers to them can be tested.
#pragma once

#include "firmware/app/bundle.hpp"
#include "firmware/app/guards.hpp"

namespace fw {

/** Make the fault, if it is one of those that happen in an inference; else return. */
void inject_in_inference(Inject inject);

/** Write the one byte, if it is one of the faults that do. `last` is the instruction that has just
 * run. */
void inject_write(Inject inject, const Guards& guards, uint32_t last);

/** Time windows of a known number of instructions and send them as `count` lines.
 *
 * @return false where the port cannot (a process). */
[[nodiscard]] bool count_instructions();

}  // namespace fw
