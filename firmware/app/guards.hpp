// What no inference may change in the arena: words in front of the program's memory and behind it,
// and the data that the engine keeps between the plan and the kernels' scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fw {

/** The arena without the words in front: what a program may be given. */
std::span<std::byte> guarded_arena();

class Guards {
 public:
  /** After a load: write the words around the first `needed_bytes` of `memory`, a part of
   * `guarded_arena()`, and remember the engine's own data. Where the memory ends with what is
   * needed, there are no words behind. */
  void set(std::span<std::byte> memory, size_t needed_bytes);

  std::span<const std::byte> front() const { return front_; }
  std::span<const std::byte> behind() const { return behind_; }
  std::span<const std::byte> fixed() const { return fixed_; }

  /** Bytes of `words` that no longer are what was written there. */
  static uint32_t damaged(std::span<const std::byte> words);
  /** Whether the engine's own data is what it was after the load. */
  bool fixed_holds() const;

 private:
  std::span<std::byte> front_, behind_;
  std::span<const std::byte> fixed_;
  uint32_t fixed_crc_ = 0;
};

}  // namespace fw
