#include "firmware/app/guards.hpp"

#include <algorithm>

#include "firmware/app/crc32.hpp"
#include "firmware/app/engine.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr size_t kFrontBytes = 16;  // keeps the alignment
constexpr size_t kBehindBytes = 64;
constexpr std::byte kWord{0x5A};

}  // namespace

std::span<std::byte> guarded_arena() { return arena().subspan(kFrontBytes); }

void Guards::set(std::span<std::byte> memory, size_t needed_bytes) {
  front_ = arena().first(kFrontBytes);
  behind_ = memory.subspan(std::min(needed_bytes, memory.size()));
  behind_ = behind_.first(std::min(behind_.size(), kBehindBytes));
  std::ranges::fill(front_, kWord);
  std::ranges::fill(behind_, kWord);
  const engine::Part fixed = engine::fixed_memory();
  fixed_ = memory.subspan(fixed.begin, fixed.bytes);
  fixed_crc_ = crc32(fixed_);
}

uint32_t Guards::damaged(std::span<const std::byte> words) {
  return static_cast<uint32_t>(
      std::ranges::count_if(words, [](std::byte word) { return word != kWord; }));
}

bool Guards::fixed_holds() const { return crc32(fixed_) == fixed_crc_; }

}  // namespace fw
