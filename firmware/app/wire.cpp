#include "firmware/app/wire.hpp"

#include "firmware/app/crc32.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr size_t kLineBytes = 512;
constexpr size_t kTailBytes = sizeof(" *01234567\n") - 1;
constexpr char kHexDigits[] = "0123456789abcdef";
constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Static, not on the stack: a fault handler must be able to send a line.
char line[kLineBytes];
size_t length;
uint32_t sequence;
bool sending;

bool allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("_.:+/=-<>,").find(c) != std::string_view::npos;
}

std::span<const std::byte> bytes_of(const char* text, size_t size) {
  return std::as_bytes(std::span(text, size));
}

}  // namespace

Line::Line(std::string_view kind) {
  length = 0;
  add('@');
  add_decimal(sequence);
  add(' ');
  add(kind);
}

Line& Line::number(std::string_view key, uint64_t value) {
  add_key(key);
  add_decimal(value);
  return *this;
}

Line& Line::signed_number(std::string_view key, int32_t value) {
  add_key(key);
  if (value < 0) add('-');
  add_decimal(value < 0 ? 0u - static_cast<uint32_t>(value) : static_cast<uint32_t>(value));
  return *this;
}

Line& Line::hex32(std::string_view key, uint32_t value) {
  add_key(key);
  add_hex(value, 8);
  return *this;
}

Line& Line::hex64(std::string_view key, uint64_t value) {
  add_key(key);
  add_hex(value, 16);
  return *this;
}

Line& Line::hex(std::string_view key, std::span<const std::byte> bytes) {
  add_key(key);
  for (const std::byte byte : bytes) add_hex(std::to_integer<uint64_t>(byte), 2);
  return *this;
}

Line& Line::text(std::string_view key, std::string_view value) {
  add_key(key);
  if (value.empty()) add('-');
  for (const char c : value) add(allowed(c) ? c : '_');
  return *this;
}

Line& Line::base64(std::string_view key, std::span<const std::byte> bytes) {
  add_key(key);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t rest = bytes.size() - i;
    const uint32_t group = std::to_integer<uint32_t>(bytes[i]) << 16 |
                           (rest > 1 ? std::to_integer<uint32_t>(bytes[i + 1]) << 8 : 0) |
                           (rest > 2 ? std::to_integer<uint32_t>(bytes[i + 2]) : 0);
    add(kBase64Digits[group >> 18]);
    add(kBase64Digits[group >> 12 & 63]);
    add(rest > 1 ? kBase64Digits[group >> 6 & 63] : '=');
    add(rest > 2 ? kBase64Digits[group & 63] : '=');
  }
  return *this;
}

void Line::send() {
  const uint32_t crc = crc32(bytes_of(line, length));
  line[length++] = ' ';
  line[length++] = '*';
  for (int shift = 28; shift >= 0; shift -= 4) line[length++] = kHexDigits[crc >> shift & 15];
  line[length++] = '\n';
  sending = true;
  ++sequence;
  for (size_t i = 0; i < length; ++i) putc(line[i]);
  sending = false;
}

void Line::add(char c) {
  if (length < kLineBytes - kTailBytes) line[length++] = c;
}

void Line::add(std::string_view text) {
  for (const char c : text) add(c);
}

void Line::add_key(std::string_view key) {
  add(' ');
  add(key);
  add('=');
}

void Line::add_decimal(uint64_t value) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count != 0) add(digits[--count]);
}

void Line::add_hex(uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) add(kHexDigits[value >> shift & 15]);
}

uint32_t lines_sent() { return sequence; }

void abandon_line() {
  if (sending) putc('\n');
  sending = false;
}

}  // namespace fw
