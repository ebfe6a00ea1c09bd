// Lines of text over the board's port.
#pragma once

#include <cstdint>
#include <string_view>

namespace device {

// Prints its words with spaces between them, and the line's end when it goes.
class Print {
 public:
  explicit Print(std::string_view word);
  ~Print();
  Print(const Print&) = delete;
  Print& operator=(const Print&) = delete;
  Print& word(std::string_view text);
  Print& number(uint32_t value);
  Print& integer(int32_t value);
};

}  // namespace device
