// cortex_m::quantized_add without the DSP extension: two tables hold every operand already scaled.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/scalar/requantize.hpp"

namespace rt::kernels::scalar {
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
  int32_t self[kValues], other[kValues];  // by the operand's byte
};

bool suits(const Args& args) {
  const Tensor& out = args.tensor(kOut);
  return out.numel() >= kWorthwhile && same_layout(args.tensor(kSelf), out) &&
         same_layout(args.tensor(kOther), out) && args.integer(kOutShift) < 0;
}

void fill(int32_t (&table)[kValues], const Args& args, uint32_t zero_point) {
  for (int32_t value = -128; value <= 127; ++value) {
    const int32_t shifted = (value - args.integer(zero_point)) * (1 << kLeftShift);
    table[static_cast<uint8_t>(value)] =
        requantize(shifted, args.integer(zero_point + 1), args.integer(zero_point + 2));
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
  const Requantization scaled(args.integer(kOutMultiplier), args.integer(kOutShift),
                              args.integer(kOutZeroPoint), args.integer(kActivationMin),
                              args.integer(kActivationMax));
  const uint8_t* a = args.tensor(kSelf).as<uint8_t>();
  const uint8_t* b = args.tensor(kOther).as<uint8_t>();
  int8_t* to = out.as<int8_t>();
  for (const int8_t* const end = to + out.numel(); to != end;) {
    *to++ = scaled(wrapping_add(tables.self[*a++], tables.other[*b++]));
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_add.out", prepare, run);

}  // namespace rt::kernels::scalar
