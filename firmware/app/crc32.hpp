// CRC-32 of IEEE 802.3, reflected: the one of zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fw {

/** @return the CRC of `bytes`; `before` is the CRC of what preceded them, 0 at the start. */
uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace fw
