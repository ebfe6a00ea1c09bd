// aten::pixel_shuffle and pixel_unshuffle: channels to pixels and back. Any
// type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kFactor, kOut };

// `small` has many channels, `large` many pixels; both of rank 4.
Error check(Args &args, uint32_t small_index, uint32_t large_index) {
  RT_TRY(args.match("tio="));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  RT_TRY(expect_rank(args, kInput, 4));
  RT_TRY(expect_rank(args, kOut, 4));
  RT_TRY(expect_range(args, kFactor, 1, 32767));
  const Tensor &small = args.tensor(small_index);
  const Tensor &large = args.tensor(large_index);
  const int64_t factor = args.integer(kFactor);
  const bool fits =
      small.size(0) == large.size(0) && small.size(1) == large.size(1) * factor * factor &&
      large.size(2) == small.size(2) * factor && large.size(3) == small.size(3) * factor;
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

// Copies pixel by pixel of the factor's square: channel (c, y, x) is pixel (y,
// x) of c.
void shuffle(const Args &args, bool to_pixels) {
  const Tensor &from = args.tensor(kInput);
  Tensor &to = args.tensor(kOut);
  const Tensor &small = to_pixels ? from : to;
  const Tensor &large = to_pixels ? to : from;
  const Strides s = small.strides();
  const Strides l = large.strides();
  const int32_t factor = args.integer(kFactor);
  for (int32_t y = 0; y < factor; ++y) {
    for (int32_t x = 0; x < factor; ++x) {
      const int32_t in_small = (y * factor + x) * s.of[1];
      const int32_t in_large = y * l.of[2] + x * l.of[3];
      const int32_t steps_small[] = {s.of[0], s.of[1] * factor * factor, s.of[2], s.of[3]};
      const int32_t steps_large[] = {l.of[0], l.of[1], l.of[2] * factor, l.of[3] * factor};
      const int32_t sizes[] = {large.size(0), large.size(1), small.size(2), small.size(3)};
      Walk<2> walk;
      for (uint32_t dim = 0; dim < 4; ++dim) {
        walk.add(sizes[dim], {to_pixels ? steps_small[dim] : steps_large[dim],
                              to_pixels ? steps_large[dim] : steps_small[dim]});
      }
      copy_elements(walk, from, to_pixels ? in_small : in_large, to,
                    to_pixels ? in_large : in_small);
    }
  }
}

Error prepare_shuffle(Args &args, Needs &) { return check(args, kInput, kOut); }
Error prepare_unshuffle(Args &args, Needs &) { return check(args, kOut, kInput); }

Error run_shuffle(const Args &args, std::span<std::byte>) {
  shuffle(args, true);
  return Error::kOk;
}

Error run_unshuffle(const Args &args, std::span<std::byte>) {
  shuffle(args, false);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::pixel_shuffle.out", prepare_shuffle, run_shuffle);
RT_KERNEL("aten::pixel_unshuffle.out", prepare_unshuffle, run_unshuffle);

}  // namespace rt::kernels
