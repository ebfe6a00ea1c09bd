// Registers of a chip as facts: an address, a width, fields.
//
// A board lists those that it touches in its registers.hpp, one a line, each with the name that the
// manual and the vendor's SVD file give it: tests/boards holds them against the SVD file where
// there is one.
#pragma once

#include <cstdint>

namespace boards {

/** Bits of a register. */
struct Field {
  uint32_t shift;
  uint32_t width;

  constexpr uint32_t mask() const {
    return (width == 32 ? 0xFFFFFFFFu : (1u << width) - 1u) << shift;
  }

  /** @return `value` at its place in the register. */
  constexpr uint32_t of(uint32_t value) const { return (value << shift) & mask(); }

  /** @return the field's value in a register's. */
  constexpr uint32_t in(uint32_t word) const { return (word & mask()) >> shift; }
};

/** A memory-mapped register. */
template <typename Word>
struct Register {
  uint32_t address;

  Word read() const { return *reinterpret_cast<volatile Word*>(address); }
  void write(uint32_t value) const {
    *reinterpret_cast<volatile Word*>(address) = static_cast<Word>(value);
  }

  /** Read, replace one field, write. */
  void replace(Field field, uint32_t value) const {
    write((read() & ~field.mask()) | field.of(value));
  }

  uint32_t get(Field field) const { return field.in(read()); }

  /** Wait until `field` reads `value`: a part that never gets there is caught by the host's
   * deadline. */
  void await(Field field, uint32_t value) const {
    while (get(field) != value) {
    }
  }
};

}  // namespace boards
