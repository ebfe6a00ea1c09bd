// The bundle: options, samples and program in one piece. Format: docs/bundle.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fw {

/** Faults that the image makes on purpose, for tests. */
enum class Inject : uint32_t {
  kNone = 0,
  kHang = 1,
  kUndefinedInstruction = 2,
  kStopWithoutEnd = 3,
  kStackOverflow = 4,
  kCountInstructions = 5,  // not a fault: windows of a known length, see docs/bundle.md
  // One byte, after the last instruction of the inference that is watched:
  kWriteInFront = 6,        // of the program's memory
  kWriteBehind = 7,         // what the program needs of it
  kWriteFixed = 8,          // the engine's own data
  kWriteInFrontOutput = 9,  // of the last instruction's output
  kWriteBehindOutput = 10,
};
inline constexpr Inject kLastInject = Inject::kWriteBehindOutput;

/** The header as it lies in the slot, little-endian like every core here. */
struct BundleHeader {
  char magic[4];
  uint32_t version;
  uint32_t header_bytes;
  uint32_t total_bytes;
  uint32_t pte_offset;
  uint32_t pte_bytes;
  uint32_t samples_offset;
  uint32_t sample_count;
  uint32_t sample_stride_bytes;
  uint32_t warmup;
  uint32_t iterations;
  uint32_t flags;
  uint32_t arena_limit_bytes;
  uint32_t inject;
  char method[32];
  uint32_t
      verified_crc32;     // of the .pte and its tables; this and the next with kFlagVerified alone
  uint32_t tables_bytes;  // they begin at the next multiple of 16 behind the .pte
  uint8_t reserved[32];
};
static_assert(sizeof(BundleHeader) == 128);

inline constexpr uint32_t kFlagAllSamples = 1u << 0;
inline constexpr uint32_t kFlagOperatorTicks = 1u << 1;
inline constexpr uint32_t kFlagIntermediates = 1u << 2;
inline constexpr uint32_t kFlagClockCheck = 1u << 3;
// What the lab image takes.
inline constexpr uint32_t kFlags =
    kFlagAllSamples | kFlagOperatorTicks | kFlagIntermediates | kFlagClockCheck;
// A deployment image takes no bundle without it.
inline constexpr uint32_t kFlagVerified = 1u << 4;

/** Why a bundle was refused. */
struct BundleRefusal {
  std::string_view code;  // docs/wire.md, codes of `error`; empty if the bundle is good
  uint32_t have;
  uint32_t need;  // 0 with `have` 0: they do not apply
};

/** A view of a valid bundle; owns nothing. Every span lies inside the slot. */
struct Bundle {
  std::span<const std::byte> whole;
  std::span<const std::byte> pte;
  std::span<const std::byte> samples;
  std::string_view method;
  const BundleHeader* header;

  std::span<const std::byte> sample(uint32_t i) const {
    return samples.subspan(size_t{i} * header->sample_stride_bytes, header->sample_stride_bytes);
  }
};

/** Find the extent of the bundle, so that it can be hashed before its content is looked at.
 *
 * Sets `out.whole` and `out.header`.
 * @return refusal `bundle-absent`, `bundle-magic`, `bundle-version`, `bundle-header` or
 * `slot-too-small`. */
BundleRefusal find_bundle(std::span<const std::byte> slot, Bundle& out);

/** Check the rest of the header and set the rest of `bundle`.
 *
 * @return refusal `bundle-layout`, `bundle-method`, `bundle-flags`, `bundle-inject` or
 * `arena-too-small`. */
BundleRefusal open_bundle(uint32_t arena_bytes, Bundle& bundle);

}  // namespace fw
