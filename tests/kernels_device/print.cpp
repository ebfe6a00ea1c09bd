#include "tests/kernels_device/print.hpp"

#include "firmware/port/port.hpp"

namespace device {
namespace {

void put(std::string_view text) {
  for (const char c : text) fw::putc(c);
}

}  // namespace

Print::Print(std::string_view word) { put(word); }
Print::~Print() { put("\n"); }

Print& Print::word(std::string_view text) {
  put(" ");
  put(text);
  return *this;
}

Print& Print::number(uint32_t value) {
  char digits[10];
  uint32_t count = 0;
  do {
    digits[sizeof digits - ++count] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return word({digits + sizeof digits - count, count});
}

Print& Print::integer(int32_t value) {
  if (value >= 0) return number(static_cast<uint32_t>(value));
  put(" minus");
  return number(0U - static_cast<uint32_t>(value));
}

}  // namespace device
