// Whether a method from tables (runtime/exec/laid.hpp) is the one that the checked loader makes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/exec/laid.hpp"
#include "runtime/exec/method.hpp"

// A loaded method's surroundings: offsets into these are what two methods have in common.
struct Home {
  const std::byte* program;
  size_t program_bytes;
  const std::byte* planned;  // where the planned buffers begin
};

// Compares everything that instructions see: every value with its kind, every tensor with its type,
// shape, order, size and place, every instruction with its kernel and arguments, inputs and
// outputs.
// @return what differs first, in words; empty if nothing does.
std::string difference(rt::Method& checked, Home checked_home, std::string_view name,
                       rt::LaidMethod& laid, Home laid_home);
