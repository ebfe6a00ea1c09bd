// cortex_m::minimum with the DSP extension: four values at a time.

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/runs.hpp"

namespace rt::kernels::dsp {
namespace {

enum Argument : uint32_t { kSelf, kOther, kOut };

Error prepare(Args& args, Needs& needs) { return rt_checks_minimum(args, needs); }

int8_t smaller(int8_t a, int8_t b) { return a < b ? a : b; }

// SSUB8 sets a flag for each byte of `a` that is not below `b`'s; SEL picks by them.
uint32_t smaller_bytes(uint32_t a, uint32_t b) {
  uint32_t picked = 0;
  asm("ssub8 %0, %1, %2\n\t"
      "sel %0, %2, %1"
      : "=&r"(picked)
      : "r"(a), "r"(b));
  return picked;
}

void run_of(const int8_t* a, const int8_t* b, int8_t* out, uint32_t count) {
  for (; count >= 4; count -= 4, a += 4, b += 4, out += 4) {
    store_word(out, smaller_bytes(load_word(a), load_word(b)));
  }
  for (; count > 0; --count) *out++ = smaller(*a++, *b++);
}

Error run(const Args& args, std::span<std::byte>) {
  elementwise_runs(args.tensor(kSelf), args.tensor(kOther), args.tensor(kOut), run_of, smaller);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::minimum.out", prepare, run);

}  // namespace rt::kernels::dsp
