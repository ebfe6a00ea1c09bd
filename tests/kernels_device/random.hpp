// A seeded source of numbers, the same on every board.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace device {

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 0x9E37'79B9U + 0x7F4A'7C15U) {
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 8; ++i) next();
  }

  // Marsaglia's xorshift32.
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }

  // @return low..high, both included.
  int32_t integer(int32_t low, int32_t high) {
    const uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low) + 1;
    const uint32_t value = span == 0 ? next() : next() % span;
    return static_cast<int32_t>(static_cast<uint32_t>(low) + value);
  }

  bool one_in(uint32_t count) { return next() % count == 0; }

  template <typename T>
  T choice(std::initializer_list<T> options) {
    return options.begin()[next() % options.size()];
  }

  int8_t int8() { return static_cast<int8_t>(next() >> 24); }
  // At an end of the range or in the middle, mostly.
  int32_t zero_point() { return choice<int32_t>({-128, 127, 0, integer(-128, 127)}); }

 private:
  uint32_t state_;
};

}  // namespace device
