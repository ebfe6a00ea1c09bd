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

// Lines as they were sent, one after another, for a host that missed some; those with outputs are
// left out, and those that find no room. A run of a few dozen operators takes half of it.
constexpr size_t kJournalBytes = 4096;
char journal[kJournalBytes];
size_t journal_length;
bool has_output;

// What goes out: everything, or numbers of one range while lines are made anew.
bool again;
uint32_t only_first, only_last, sequence_before;

void put(const char* text, size_t size) {
  sending = true;
  for (size_t i = 0; i < size; ++i) putc(text[i]);
  sending = false;
}

void keep() {
  if (has_output || again || length > kJournalBytes - journal_length) return;
  for (size_t i = 0; i < length; ++i) journal[journal_length + i] = line[i];
  journal_length += length;
}

uint32_t number_of(const char* text) {
  uint32_t number = 0;
  for (++text; *text != ' '; ++text) number = number * 10 + static_cast<uint32_t>(*text - '0');
  return number;
}

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
  has_output = kind.starts_with("output") || kind.starts_with("intermediate");
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
  if (again && (sequence < only_first || sequence > only_last)) {
    ++sequence;
    return;
  }
  const uint32_t crc = crc32(bytes_of(line, length));
  line[length++] = ' ';
  line[length++] = '*';
  for (int shift = 28; shift >= 0; shift -= 4) line[length++] = kHexDigits[crc >> shift & 15];
  line[length++] = '\n';
  ++sequence;
  put(line, length);
  keep();
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

void send_again(uint32_t first, uint32_t last) {
  for (size_t at = 0; at < journal_length;) {
    size_t end = at;
    while (journal[end] != '\n') ++end;
    const uint32_t number = number_of(journal + at);
    if (number >= first && number <= last) put(journal + at, end + 1 - at);
    at = end + 1;
  }
}

void send_last_again() { put(line, length); }

OnlyLines::OnlyLines(uint32_t begin, uint32_t first, uint32_t last) {
  again = true;
  only_first = first;
  only_last = last;
  sequence_before = sequence;
  sequence = begin;
}

OnlyLines::~OnlyLines() {
  again = false;
  sequence = sequence_before;
}

void abandon_line() {
  if (sending) putc('\n');
  sending = false;
}

}  // namespace fw
