// Faults that the image makes on purpose, so that the host's answers to them can be tested.
#pragma once

#include "firmware/app/bundle.hpp"

namespace fw {

/** Make the fault, if it is one of those that happen in an inference; else return. */
void inject_in_inference(Inject inject);

/** Time windows of a known number of instructions and send them as `count` lines.
 *
 * @return false where the port cannot (a process). */
[[nodiscard]] bool count_instructions();

}  // namespace fw
