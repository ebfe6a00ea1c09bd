// One attempt to load and execute a file that may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fuzz {

enum class Outcome : uint8_t {
  kRefused,   // load reported an error
  kTooLarge,  // it loads, but wants more memory or work than an attempt may cost
  kFailed,    // it loaded, and execute reported an error
  kRan,
};

struct Attempt {
  Outcome outcome;
  const char* error;  // the error's name; "ok" if it ran
};

// Loads the file into an arena of exactly the bytes it needs, fills the inputs, executes.
//
// AddressSanitizer forbids what lies around file and arena from the first byte on. While an
// instruction runs, it forbids every planned byte that is not in one of the instruction's own
// tensors, too, so that a kernel that leaves its tensors is caught inside the arena. Afterwards the
// file and the method's own data must be what they were. Any of this aborts.
Attempt attempt(std::span<const uint8_t> file);

}  // namespace fuzz
