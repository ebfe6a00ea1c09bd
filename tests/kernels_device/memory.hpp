// Memory for tensors, guarded: behind each block lie bytes that must not change, or that must not
// even be read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace device {

enum class Placement : uint8_t {
  kAligned,  // the block begins at a multiple of 32, pattern behind it
  kAtWall,   // the block ends where the memory protection unit forbids every access
};

// Blocks are taken from the image's arena, one after another.
class Memory {
 public:
  Memory();

  // @return a block with `bytes` bytes of unspecified contents.
  std::byte* take(uint32_t bytes, Placement placement);
  // Puts up the walls behind the blocks that ask for one, as many as there are regions.
  void protect();
  // @return whether every pattern is whole.
  bool intact() const;
  // Tears the walls down.
  void release_walls();

 private:
  static constexpr uint32_t kMaxBlocks = 16;
  struct Block {
    std::byte* guard;
    bool wall;
  };
  std::byte* next_;
  Block blocks_[kMaxBlocks] = {};
  uint32_t count_ = 0;
};

}  // namespace device
