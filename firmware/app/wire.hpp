// The wire: lines that come out of the device. Grammar and kinds: docs/wire.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fw {

/** Bytes of data in one `output` line, decoded. */
inline constexpr size_t kOutputLineBytes = 288;

/** One line under construction; there is one buffer, so only one line at a time.
 *
 * Line("end").text("status", "ok").number("lines", 7).send();
 *
 * Keys are this program's own and trusted. Values from elsewhere go through `text`, which writes
 * "_" for what the grammar forbids and "-" for nothing. What would make the line too long is cut.
 */
class Line {
 public:
  explicit Line(std::string_view kind);
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Line& number(std::string_view key, uint64_t value);
  /** A signed number, where docs/wire.md says so. */
  Line& signed_number(std::string_view key, int32_t value);
  Line& hex32(std::string_view key, uint32_t value);
  Line& hex64(std::string_view key, uint64_t value);
  Line& hex(std::string_view key, std::span<const std::byte> bytes);
  Line& text(std::string_view key, std::string_view value);
  Line& base64(std::string_view key, std::span<const std::byte> bytes);
  /** Number, checksum, out. */
  void send();

 private:
  void add(char c);
  void add(std::string_view text);
  void add_key(std::string_view key);
  void add_decimal(uint64_t value);
  void add_hex(uint64_t value, int digits);
};

/** @return lines sent so far. */
uint32_t lines_sent();

/** Send lines again whose numbers are from `first` to `last`, as far as they were kept: lines with
 * outputs are not, they can be made anew. */
void send_again(uint32_t first, uint32_t last);

/** Send the last line once more, with its number. */
void send_last_again();

/** While this lives, lines are numbered from `begin` on, and only those from `first` to `last` go
 * out. */
class OnlyLines {
 public:
  OnlyLines(uint32_t begin, uint32_t first, uint32_t last);
  OnlyLines(const OnlyLines&) = delete;
  OnlyLines& operator=(const OnlyLines&) = delete;
  ~OnlyLines();
};

/** Close a line that was cut off half-way (by a fault), so that the next begins on its own. */
void abandon_line();

}  // namespace fw
