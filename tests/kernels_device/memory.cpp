#include "tests/kernels_device/memory.hpp"

#include <cstring>

#include "firmware/port/cortex_m.hpp"
#include "firmware/port/port.hpp"

namespace device {
namespace {

using fw::cortex_m::scb;

constexpr uint32_t kGuardBytes = 32;  // the smallest region
constexpr std::byte kPattern{0xA5};

uint32_t address_of(const void* pointer) { return reinterpret_cast<uint32_t>(pointer); }

std::byte* align(std::byte* pointer) {
  return pointer + (kGuardBytes - address_of(pointer) % kGuardBytes) % kGuardBytes;
}

#if __ARM_ARCH < 8
// Armv7-M ARM B3.5.9: no access, 2^5 bytes. Region 0 is the stack's guard. An Armv6-M core without
// the unit says that it has no regions.
constexpr uint32_t kFirstRegion = 1;
void set_wall(uint32_t region, const std::byte* at) {
  scb().mpu_rnr = region;
  scb().mpu_rbar = address_of(at);
  scb().mpu_rasr = 1U << 28 | 4U << 1 | 1U;
}
void begin_walls() {}
void clear_wall(uint32_t region) {
  scb().mpu_rnr = region;
  scb().mpu_rasr = 0;
}
#else
// Armv8-M ARM B11.1: an access that two regions match faults. Region 0 covers the whole arena, each
// wall is another. The attributes are those of Normal memory without cache (MAIR 0x44).
constexpr uint32_t kFirstRegion = 1;
void set_region(uint32_t region, uint32_t begin, uint32_t end) {
  constexpr uint32_t kReadWrite = 1U << 1;
  scb().mpu_rnr = region;
  scb().mpu_rbar = begin | kReadWrite;
  scb().mpu_rasr = ((end - 1) & ~31U) | 1U;  // MPU_RLAR here
}
void set_wall(uint32_t region, const std::byte* at) {
  set_region(region, address_of(at), address_of(at) + kGuardBytes);
}
void begin_walls() {
  *reinterpret_cast<volatile uint32_t*>(0xE000EDC0) = 0x44;  // MPU_MAIR0
  const auto arena = fw::arena();
  set_region(0, address_of(arena.data()), address_of(arena.data() + arena.size()));
}
void clear_wall(uint32_t region) {
  scb().mpu_rnr = region;
  scb().mpu_rasr = 0;
}
#endif

uint32_t region_count() { return scb().mpu_type >> 8 & 0xFF; }

}  // namespace

Memory::Memory() : next_(align(fw::arena().data())) {}

std::byte* Memory::take(uint32_t bytes, Placement placement) {
  std::byte* const end = align(next_ + bytes);
  std::byte* const begin = placement == Placement::kAtWall ? end - bytes : next_;
  std::byte* const guard = begin + bytes;
  std::memset(guard, static_cast<int>(kPattern), kGuardBytes);
  next_ = align(guard + kGuardBytes);
  if (count_ < kMaxBlocks) blocks_[count_++] = {guard, placement == Placement::kAtWall};
  return begin;
}

void Memory::protect() {
  begin_walls();
  uint32_t region = kFirstRegion;
  for (uint32_t i = 0; i < count_ && region < region_count(); ++i) {
    if (blocks_[i].wall) set_wall(region++, blocks_[i].guard);
  }
  if (region_count() > 0) scb().mpu_ctrl = fw::cortex_m::kMpuEnableWithDefaultMap;
  fw::cortex_m::barrier();
}

bool Memory::intact() const {
  for (uint32_t i = 0; i < count_; ++i) {
    for (uint32_t k = 0; k < kGuardBytes; ++k) {
      if (blocks_[i].guard[k] != kPattern) return false;
    }
  }
  return true;
}

void Memory::release_walls() {
  for (uint32_t region = kFirstRegion; region < region_count(); ++region) clear_wall(region);
  fw::cortex_m::barrier();
}

}  // namespace device
