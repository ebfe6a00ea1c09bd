#include "runtime/kernels/scalar/int8_convolution.hpp"

#include "runtime/kernels/pixels.hpp"
#include "runtime/kernels/scalar/requantize.hpp"

namespace rt::kernels::scalar {
namespace {

// The positions of a kernel that see the input, none of them beyond the kernel: padding may be
// wider.
Axis::Range range_within(const Axis& axis, int32_t out) {
  Axis::Range range = axis.range(out);
  if (range.begin > axis.kernel) range.begin = range.end = axis.kernel;
  return range;
}

// Widens the inputs under the filters, patch by patch.
class Patches {
 public:
  Patches(const Tensor& input, int32_t offset, const Window& window, const Filters& filters)
      : window_(window),
        channels_(input.size(1)),
        depth_(filters.depth),
        first_(filters.first),
        offset_(offset),
        runs_(window.w.dilation == 1 && filters.depth == input.size(1)) {}

  // Widens the patch of `pixel` to every fifth word from `to` on.
  void widen(int32_t* to, const Pixel& pixel) const {
    const auto& [h, w] = window_;
    const Axis::Range ys = range_within(h, pixel.y);
    const Axis::Range xs = range_within(w, pixel.x);
    const int32_t line_taps = w.kernel * depth_;
    to = zero<kRows>(to, ys.begin * line_taps);
    for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
      const int32_t row = ys.origin + ky * h.dilation;
      const int8_t* from = pixel.image + row * w.input * channels_ + first_ +
                           (xs.origin + xs.begin * w.dilation) * channels_;
      to = zero<kRows>(to, xs.begin * depth_);
      const int32_t taps = xs.end - xs.begin;
      if (runs_) {
        to = scalar::widen<kRows>(to, from, taps * depth_, offset_);
      } else {
        for (int32_t kx = 0; kx < taps; ++kx, from += w.dilation * channels_) {
          to = scalar::widen<kRows>(to, from, depth_, offset_);
        }
      }
      to = zero<kRows>(to, (w.kernel - xs.end) * depth_);
    }
    zero<kRows>(to, (h.kernel - ys.end) * line_taps);
  }

 private:
  const Window& window_;
  int32_t channels_, depth_, first_, offset_;
  bool runs_;
};

}  // namespace

Stage::Stage(const Args& args, const ConvolutionArguments& at)
    : bias(args.is_none(ConvolutionArguments::kBias)
               ? nullptr
               : args.tensor(ConvolutionArguments::kBias).as<int32_t>()),
      multipliers(args.tensor(at.multipliers).as<int32_t>()),
      shifts(args.tensor(at.shifts).as<int32_t>()),
      offset(args.integer(at.output_offset)),
      low(args.integer(at.activation_min)),
      high(args.integer(at.activation_max)) {}

void Stage::advance(int32_t outputs) {
  if (bias != nullptr) bias += outputs;
  multipliers += outputs;
  shifts += outputs;
}

bool scales_fit(const Args& args, const ConvolutionArguments& at) {
  const Tensor& shifts = args.tensor(at.shifts);
  int32_t all = -1;  // stays negative as long as every shift is
  const int32_t* shift = shifts.as<int32_t>();
  for (const int32_t* const end = shift + shifts.numel(); shift != end; ++shift) all &= *shift;
  return all < 0;
}

void convolve(const Tensor& input, int32_t input_offset, const Window& window,
              const Filters& filters, const Stage& stage, int8_t* out, int32_t pixel_bytes,
              std::byte* scratch) {
  int32_t* const activations = reinterpret_cast<int32_t*>(scratch);
  const Patches patches(input, input_offset, window, filters);
  const int32_t terms = filters.size(window);
  const int32_t pixels = pixels_of(input, window);
  Pixel pixel = {0, 0, input.as<int8_t>()};
  for (int32_t done = 0; done < pixels; done += kRows, out += kRows * pixel_bytes) {
    const int32_t rows = pixels - done < kRows ? pixels - done : kRows;
    // Of the last five some may be missing: what lies in their place is multiplied, and not used.
    for (int32_t row = 0; row < rows; ++row, advance(pixel, input, window)) {
      patches.widen(activations + row, pixel);
    }
    const int8_t* weights = filters.weights;
    for (int32_t c = 0; c < filters.outputs; ++c, weights += terms) {
      int32_t sums[kRows];
      rt_scalar_dot5(activations, weights, terms, sums);
      const Requantization requantize(stage.multipliers[c], stage.shifts[c], stage.offset,
                                      stage.low, stage.high);
      const int32_t bias = stage.bias == nullptr ? 0 : stage.bias[c];
      int8_t* to = out + c;
      for (int32_t row = 0; row < rows; ++row, to += pixel_bytes) {
        *to = requantize(wrapping_add(sums[row], bias));
      }
    }
  }
}

}  // namespace rt::kernels::scalar
