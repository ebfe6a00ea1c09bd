// Whether an instruction writes beside its output: the bytes around it are looked at before and
// after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fw {

/** Watches one inference. What lies around a planned output is other tensors, or the method's own
 * data: a kernel may change none of it, save what is an argument of its own (scratch, a second
 * result). */
class Neighbours {
 public:
  /** To be called around each instruction. */
  void before(uint32_t instruction);
  void after(uint32_t instruction);

  uint32_t bytes() const { return bytes_; }      // that were watched
  uint32_t damaged() const { return damaged_; }  // of them
  int32_t first() const { return first_; }       // instruction that damaged any, -1 if none

 private:
  static constexpr size_t kReach = 16;  // bytes, to each side

  void leave_out(std::span<const std::byte> argument);
  uint32_t changed(std::span<const std::byte> now, const std::byte* kept) const;

  std::span<const std::byte> output_{}, front_{}, behind_{};
  std::byte kept_front_[kReach] = {}, kept_behind_[kReach] = {};
  uint32_t bytes_ = 0, damaged_ = 0;
  int32_t first_ = -1;
};

}  // namespace fw
