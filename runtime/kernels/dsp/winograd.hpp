// Exact integer Winograd F(2x2, 3x3) for convolutions of stride 1: 16 products instead of 36 for a
// tile of 2x2 outputs (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015).
// Weights are transformed ahead of time by bench/rewrite/dsp_winograd.py; operators that read them
// have the overload `winograd1`.
//
// With B^T = (1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1), G = (1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1)
// and A^T = (1 1 1 0; 0 1 -1 -1), a tile is A^T [(G g G^T) * (B^T d B)] A, summed over channels. 2
// G holds integers, so the weights kept are 4 G g G^T, at most 9 * 128, and sums are four times the
// convolution's. Inputs are transformed as they are, at most 4 * 128; their offset is in the bias:
//   4 * (bias + input offset * sum of the filter).
// The packer packs only filters whose sums stay within 2^29 whatever the input; what is in between
// may wrap.
//
// A word holds channels c and c + 2 of four, in the order in which SXTB16 unpacks: (0, 2), (1, 3).
// Weights lie as [16 places of a tile][pairs of filters][pairs of channels][2 filters] words.
#pragma once

#include <cstdint>

namespace rt::kernels::dsp {

inline constexpr int32_t kTiles = 4;     // that are multiplied together, side by side
inline constexpr int32_t kPlaces = 16;   // of a tile's transform
inline constexpr int32_t kColumns = 10;  // of the input under four tiles
inline constexpr int32_t kAtOnce = 16;   // filters whose sums are kept, at most

// Scratch, in words, in the order in which it lies.
struct WinogradScratch {
  int32_t inputs;   // [places][pairs of channels][tiles]
  int32_t sums;     // [places][filters at once][tiles]
  int32_t columns;  // of four channels: [columns][2 pairs][4 rows]
  int32_t padding;  // a line of the input's zero point

  WinogradScratch(int32_t channels, int32_t filters)
      : inputs(kPlaces * kTiles * channels / 2),
        sums(kPlaces * kTiles * (filters < kAtOnce ? filters : kAtOnce)),
        columns(kColumns * 8),
        padding(kColumns * channels / 4) {}
  uint32_t bytes() const {
    return static_cast<uint32_t>(inputs + sums + columns + padding) * sizeof(int32_t);
  }
};

extern "C" {
// The sums of one place: `inputs` and `weights` are that place's, `sums` is written as
// [pairs of filters][2 filters][tiles]. At least one pair of filters, and of channels.
void rt_dsp_winograd_products(const int32_t* inputs, const int32_t* weights, int32_t* sums,
                              int32_t filter_pairs, int32_t channel_pairs);
}

}  // namespace rt::kernels::dsp
