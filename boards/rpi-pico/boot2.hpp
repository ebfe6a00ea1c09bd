// The second stage of the RP2040's boot: 252 bytes that its ROM copies from the start of Flash into
// RAM and runs, and their checksum (RP2040 Datasheet, "Flash Second Stage"). It lets the SSI read
// the Pico's Flash in place, four bits at a time without an instruction a read, and goes to the
// image's vectors. W25Q16JV datasheet for the Flash's commands; RP2040 Datasheet, "SSI", for the
// registers.
//
// Machine code, for it must run before there is anything that could build or place it; a test
// assembles the comments and runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace boards::rp2040 {

inline constexpr std::array<uint16_t, 80> kSecondStageCode{
    // clang-format off
    // - The SSI, off while it is set up: half of the core's clock, sampled a clock late, chip selected.
    0x4827,  // ldr r0, =0x18000000
    0x2100,  // movs r1, #0
    0x6081,  // str r1, [r0, #8]
    0x2102,  // movs r1, #2
    0x6141,  // str r1, [r0, #20]
    0x2101,  // movs r1, #1
    0x22F0,  // movs r2, #0xf0
    0x5081,  // str r1, [r0, r2]
    0x6101,  // str r1, [r0, #16]
    // - Plain SPI, eight bits a frame: ask for the second status register (35h).
    0x2307,  // movs r3, #7
    0x041B,  // lsls r3, #16
    0x6003,  // str r3, [r0]
    0x6081,  // str r1, [r0, #8]
    0x2135,  // movs r1, #0x35
    0x6601,  // str r1, [r0, #0x60]
    0x6601,  // str r1, [r0, #0x60]
    0xF000, 0xF838,  // bl wait
    0x6E01,  // ldr r1, [r0, #0x60]
    0x6E01,  // ldr r1, [r0, #0x60]
    // - Quad enabled there already? Then there is nothing to write.
    0x0889,  // lsrs r1, #2
    0xD218,  // bcs quad
    // - Write enable (06h).
    0x2106,  // movs r1, #6
    0x6601,  // str r1, [r0, #0x60]
    0xF000, 0xF830,  // bl wait
    0x6E01,  // ldr r1, [r0, #0x60]
    // - Both status registers (01h): nothing protected, quad enabled.
    0x2101,  // movs r1, #1
    0x2200,  // movs r2, #0
    0x2302,  // movs r3, #2
    0x6601,  // str r1, [r0, #0x60]
    0x6602,  // str r2, [r0, #0x60]
    0x6603,  // str r3, [r0, #0x60]
    0xF000, 0xF827,  // bl wait
    0x6E01,  // ldr r1, [r0, #0x60]
    0x6E01,  // ldr r1, [r0, #0x60]
    0x6E01,  // ldr r1, [r0, #0x60]
    // - Until the first status register (05h) says that it is done.
    0x2105,  // busy: movs r1, #5
    0x6601,  // str r1, [r0, #0x60]
    0x6601,  // str r1, [r0, #0x60]
    0xF000, 0xF81F,  // bl wait
    0x6E01,  // ldr r1, [r0, #0x60]
    0x6E01,  // ldr r1, [r0, #0x60]
    0x0849,  // lsrs r1, #1
    0xD2F6,  // bcs busy
    // - Quad, 32 bits a frame, one frame after each address.
    0x2100,  // quad: movs r1, #0
    0x6081,  // str r1, [r0, #8]
    0x6041,  // str r1, [r0, #4]
    0x4A0F,  // ldr r2, =0x005f0300
    0x6002,  // str r2, [r0]
    // - One read with its instruction (EBh), address and mode in quad, which makes the Flash expect no more of them.
    0x24F4,  // movs r4, #0xf4
    0x4A0F,  // ldr r2, =0x2221
    0x5102,  // str r2, [r0, r4]
    0x2501,  // movs r5, #1
    0x6085,  // str r5, [r0, #8]
    0x22EB,  // movs r2, #0xeb
    0x6602,  // str r2, [r0, #0x60]
    0x22A0,  // movs r2, #0xa0
    0x6602,  // str r2, [r0, #0x60]
    0xF000, 0xF80B,  // bl wait
    // - From now on, address and mode A0h alone.
    0x6081,  // str r1, [r0, #8]
    0x4A0A,  // ldr r2, =0xa0002022
    0x5102,  // str r2, [r0, r4]
    0x6085,  // str r5, [r0, #8]
    // - Into the image: its vectors, its stack, its reset handler.
    0x480A,  // ldr r0, =0x10000100
    0x490A,  // ldr r1, =0xe000ed08
    0x6008,  // str r0, [r1]
    0xC806,  // ldmia r0!, {r1, r2}
    0xF381, 0x8808,  // msr msp, r1
    0x4710,  // bx r2
    // - Until everything was sent: the transmit FIFO is empty and the SSI not busy.
    0x6A82,  // wait: ldr r2, [r0, #0x28]
    0x2305,  // movs r3, #5
    0x401A,  // ands r2, r3
    0x2A04,  // cmp r2, #4
    0xD1FA,  // bne wait
    0x4770,  // bx lr
    // clang-format on
};

inline constexpr std::array<uint32_t, 6> kSecondStageLiterals{
    0x18000000,  // the SSI
    0x005F0300,  // CTRLR0: SPI_FRF quad, DFS_32 31, TMOD 3 (a read of what follows an address)
    0x00002221,  // SPI_CTRLR0: WAIT_CYCLES 4, INST_L 8 bits, ADDR_L 8 nibbles, TRANS_TYPE 1
                 // (address in quad)
    0xA0002022,  // SPI_CTRLR0: XIP_CMD A0h, WAIT_CYCLES 4, INST_L none, ADDR_L 8 nibbles,
                 // TRANS_TYPE 2
    0x10000100,  // the image's vectors
    0xE000ED08,  // VTOR (Armv6-M ARM B3.2.5)
};

/** @return the CRC-32 that the ROM computes: polynomial 0x04C11DB7, nothing reflected, nothing
 * inverted at the end. */
constexpr uint32_t rom_crc32(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const uint8_t byte : bytes) {
    crc ^= static_cast<uint32_t>(byte) << 24;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc >> 31) != 0 ? 0x04C11DB7u : 0u);
  }
  return crc;
}

/** @return the 256 bytes. */
constexpr std::array<uint8_t, 256> second_stage() {
  std::array<uint8_t, 256> bytes{};
  size_t at = 0;
  const auto add = [&](uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bytes[at++] = static_cast<uint8_t>(value >> 8 * i);
  };
  for (const uint16_t halfword : kSecondStageCode) add(halfword, 2);
  for (const uint32_t word : kSecondStageLiterals) add(word, 4);
  at = 252;
  add(rom_crc32(std::span(bytes).first<252>()), 4);
  return bytes;
}

}  // namespace boards::rp2040
