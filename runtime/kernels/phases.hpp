// Transposed convolutions as convolutions: outputs that lie a stride apart see the same part of the
// kernel, each next one the next inputs under it. Such a part, turned round, is a filter of
// stride 1.
#pragma once

#include <cstring>

#include "runtime/kernels/int8_transposed.hpp"

namespace rt::kernels::transposed {

// Of one dimension, the outputs first, first + stride, ...
struct Phase {
  int32_t first, outputs;
  int32_t tap, taps;  // kernel positions tap, tap + stride, ...
  int32_t source;     // what `tap` takes to the first output; may lie outside the input

  // `first` below stride and output; no dilation, and a kernel no smaller than the stride.
  Phase(const TransposedAxis& axis, int32_t first_output)
      : first(first_output),
        outputs((axis.output - first - 1) / axis.stride + 1),
        tap((first + axis.padding) % axis.stride),
        taps((axis.kernel - 1 - tap) / axis.stride + 1),
        source((first + axis.padding) / axis.stride) {}

  // The convolution of `count` of these outputs from the `skipped`th on. Padding below zero: the
  // first of them begins inside the input.
  Axis axis(int32_t input, int32_t skipped, int32_t count) const {
    return {input, count, taps, 1, taps - 1 - source - skipped, 1};
  }
};

// Convolutions treat a kernel of one position without padding as if it could not leave the input;
// here it could.
inline bool leaves_input(const Phase& phase, const TransposedAxis& axis) {
  return phase.taps == 1 && phase.source == 0 && phase.outputs > axis.input;
}

inline int32_t phases_of(const TransposedAxis& axis) {
  return axis.stride < axis.output ? axis.stride : axis.output;
}

inline bool has_phases(const TransposedWindow& window) {
  for (const TransposedAxis& axis : {window.h, window.w}) {
    if (axis.dilation != 1 || axis.kernel < axis.stride) return false;
  }
  for (int32_t y = 0; y < phases_of(window.h); ++y) {
    if (leaves_input(Phase(window.h, y), window.h)) return false;
  }
  return true;
}

// @return the most weights of one filter that a phase has, times `depth`.
inline int32_t most_terms(const TransposedWindow& window, int32_t depth) {
  const auto most = [](const TransposedAxis& axis) { return (axis.kernel - 1) / axis.stride + 1; };
  return most(window.h) * most(window.w) * depth;
}

// One column of outputs of a phase, of one image, as a convolution.
struct Column {
  Window window;
  Tensor input;
  int8_t* out;
  int32_t pixel_bytes;  // from one output to the next
};

// Calls visit(phase of the height, phase of the width) for each pair of phases.
template <typename Visit>
void for_each_phase(const TransposedWindow& window, Visit visit) {
  for (int32_t y = 0; y < phases_of(window.h); ++y) {
    for (int32_t x = 0; x < phases_of(window.w); ++x) {
      visit(Phase(window.h, y), Phase(window.w, x));
    }
  }
}

// Copies a phase's part of each filter, turned round.
inline void gather(const Tensor& weight, const TransposedWindow& window, const Phase& h,
                   const Phase& w, int8_t* to) {
  const int32_t depth = weight.size(3);
  const int8_t* filter = weight.as<int8_t>();
  for (int32_t c = 0; c < weight.size(0); ++c) {
    for (int32_t i = h.taps - 1; i >= 0; --i) {
      const int32_t row = (h.tap + i * window.h.stride) * window.w.kernel;
      for (int32_t k = w.taps - 1; k >= 0; --k, to += depth) {
        std::memcpy(to, filter + (row + w.tap + k * window.w.stride) * depth,
                    static_cast<uint32_t>(depth));
      }
    }
    filter += window.h.kernel * window.w.kernel * depth;
  }
}

// Calls convolve(column) for each column of each image, phase by phase, with that phase's filters
// at `weights`, which has room for most_terms of each.
template <typename Convolve>
void for_each_column(const Args& args, const TransposedWindow& window, int8_t* weights,
                     Convolve convolve) {
  static constexpr uint8_t kChannelsLast[] = {0, 2, 3, 1};
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const int32_t sizes[] = {1, input.size(1), input.size(2), input.size(3)};
  const uint32_t image_bytes = input.numel() / static_cast<uint32_t>(input.size(0));
  const int32_t pixel_bytes = out.size(1);
  const int32_t row_bytes = window.w.output * pixel_bytes;
  for_each_phase(window, [&](const Phase& h, const Phase& w) {
    gather(args.tensor(kWeight), window, h, w, weights);
    for (int32_t n = 0; n < input.size(0); ++n) {
      // The convolutions read it.
      std::byte* const image = const_cast<std::byte*>(input.data()) + n * image_bytes;
      int8_t* to =
          out.as<int8_t>() + (n * window.h.output + h.first) * row_bytes + w.first * pixel_bytes;
      for (int32_t x = 0; x < w.outputs; ++x, to += window.w.stride * pixel_bytes) {
        convolve(Column{{h.axis(window.h.input, 0, h.outputs), w.axis(window.w.input, x, 1)},
                        Tensor(input.type(), sizes, kChannelsLast, image_bytes, image, false),
                        to,
                        window.h.stride * row_bytes});
      }
    }
  });
}

}  // namespace rt::kernels::transposed
