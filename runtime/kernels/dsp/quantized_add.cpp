// cortex_m::quantized_add with the DSP extension: two tables hold every operand already scaled.

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::dsp {
namespace {

enum Argument : uint32_t {
  kSelf = 0,
  kSelfZeroPoint = 1,
  kOther = 4,
  kOtherZeroPoint = 5,
  kOutZeroPoint = 8,
  kOutMultiplier = 9,
  kOutShift = 10,
  kActivationMin = 11,
  kActivationMax = 12,
  kOut = 13,
};

constexpr int32_t kLeftShift = 20;  // as in the reference kernel
constexpr uint32_t kValues = 256;
// Making the tables takes as long as adding this many elements without them.
constexpr uint32_t kWorthwhile = 512;

struct Tables {
  int32_t self[kValues], other[kValues];  // by the operand's byte, doubled
};

bool suits(const Args& args) {
  const Tensor& out = args.tensor(kOut);
  // A shift to the left could make the doubled sum too large.
  return out.numel() >= kWorthwhile && same_layout(args.tensor(kSelf), out) &&
         same_layout(args.tensor(kOther), out) && args.integer(kSelfZeroPoint + 2) <= 0 &&
         args.integer(kOtherZeroPoint + 2) <= 0 && scale_fits(args.integer(kOutShift));
}

void fill(int32_t (&table)[kValues], const Args& args, uint32_t zero_point) {
  for (int32_t value = -128; value <= 127; ++value) {
    const int32_t shifted = (value - args.integer(zero_point)) * (1 << kLeftShift);
    const int32_t scaled =
        requantize(shifted, args.integer(zero_point + 1), args.integer(zero_point + 2));
    table[static_cast<uint8_t>(value)] = 2 * scaled;
  }
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_quantized_add(args, needs));
  if (suits(args)) needs.temporary_bytes = sizeof(Tables);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_quantized_add(args, temporary);
  Tables& tables = *reinterpret_cast<Tables*>(temporary.data());
  fill(tables.self, args, kSelfZeroPoint);
  fill(tables.other, args, kOtherZeroPoint);
  Tensor& out = args.tensor(kOut);
  const int32_t multiplier = args.integer(kOutMultiplier);
  const int32_t inverted_shift = ~args.integer(kOutShift);
  const int32_t rounding = rounding_of(args.integer(kOutZeroPoint));
  const auto add = [&](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(requantize_doubled(tables.self[a & 0xFF] + tables.other[b & 0xFF],
                                                    multiplier, inverted_shift, rounding));
  };

  const int8_t* a = args.tensor(kSelf).as<int8_t>();
  const int8_t* b = args.tensor(kOther).as<int8_t>();
  int8_t* to = out.as<int8_t>();
  uint32_t left = out.numel();
  for (; left >= 4; left -= 4, a += 4, b += 4, to += 4) {
    const uint32_t x = load_word(a);
    const uint32_t y = load_word(b);
    const uint32_t low = insert_byte(add(x, y), add(x >> 8, y >> 8));
    const uint32_t high = insert_byte(add(x >> 16, y >> 16), add(x >> 24, y >> 24));
    store_word(to, pack_low(low, high));
  }
  for (; left > 0; --left, ++a, ++b, ++to) {
    *to = static_cast<int8_t>(add(static_cast<uint8_t>(*a), static_cast<uint8_t>(*b)));
  }
  clamp_bytes(out.as<int8_t>(), out.numel(), args.integer(kActivationMin),
              args.integer(kActivationMax));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_add.out", prepare, run);

}  // namespace rt::kernels::dsp
