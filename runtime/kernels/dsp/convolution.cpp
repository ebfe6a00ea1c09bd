#include "runtime/kernels/dsp/convolution.hpp"

#include <cstring>

namespace rt::kernels::dsp {
namespace {

// The pixels of an output, in the order in which they lie in memory.
struct Pixel {
  int32_t x, y;
  const int8_t* image;
};

// Widens the inputs under the filters, patch by patch.
class Patches {
 public:
  // `line` has room for a patch if the depth is no multiple of 4, else it is not used.
  Patches(const Tensor& input, const Window& window, const Filters& filters, int32_t offset,
          int8_t* line)
      : window_(window),
        channels_(input.size(1)),
        row_bytes_(window.w.input * input.size(1)),
        depth_(filters.depth),
        first_(filters.first),
        offset_(both(offset)),
        padding_(static_cast<int8_t>(-offset)),
        line_(line),
        runs_(window.w.dilation == 1 && filters.depth == input.size(1)) {}

  // Widens the patch of `pixel` to every fifth word from `to` on.
  void widen(int32_t* to, const Pixel& pixel) const {
    const auto& [h, w] = window_;
    const int8_t* image = pixel.image + first_;
    const int32_t x = pixel.x * w.stride - w.padding;
    const int32_t y = pixel.y * h.stride - h.padding;
    if (h.kernel == 1 && w.kernel == 1 && h.padding == 0 && w.padding == 0) {
      widen_row<kRows>(to, image + y * row_bytes_ + x * channels_, depth_, offset_);
    } else if ((depth_ & 3) == 0) {
      widen_quads(to, image, x, y);
    } else {
      int8_t* end = copy_bytes(image, x, y);
      // The line is longer by what is missing in its last quad.
      dsp::widen<kRows>(to, line_, static_cast<int32_t>(end - line_ + 3) >> 2, offset_);
    }
  }

 private:
  void widen_quads(int32_t* to, const int8_t* image, int32_t x, int32_t y) const {
    const auto& [h, w] = window_;
    const int32_t quads = depth_ >> 2;
    for (int32_t ky = 0; ky < h.kernel; ++ky, y += h.dilation) {
      if (y < 0 || y >= h.input) {
        to = zero<kRows>(to, w.kernel * quads);
        continue;
      }
      const int8_t* from = image + y * row_bytes_ + x * channels_;
      if (runs_) {
        // The padding may be wider than the kernel.
        const int32_t before = x < -w.kernel ? w.kernel : (x < 0 ? -x : 0);
        const int32_t inside = w.input - x < w.kernel ? w.input - x : w.kernel;
        const int32_t taps = inside > before ? inside - before : 0;
        to = zero<kRows>(to, before * quads);
        to = dsp::widen<kRows>(to, from + before * channels_, taps * quads, offset_);
        to = zero<kRows>(to, (w.kernel - before - taps) * quads);
        continue;
      }
      int32_t at = x;
      for (int32_t kx = 0; kx < w.kernel; ++kx, at += w.dilation, from += w.dilation * channels_) {
        to = at < 0 || at >= w.input ? zero<kRows>(to, quads)
                                     : dsp::widen<kRows>(to, from, quads, offset_);
      }
    }
  }

  // @return the end of the patch in the line.
  int8_t* copy_bytes(const int8_t* image, int32_t x, int32_t y) const {
    const auto& [h, w] = window_;
    int8_t* to = line_;
    for (int32_t ky = 0; ky < h.kernel; ++ky, y += h.dilation) {
      if (y < 0 || y >= h.input) {
        to = fill(to, w.kernel * depth_);
        continue;
      }
      const int8_t* from = image + y * row_bytes_ + x * channels_;
      if (runs_ && x >= 0 && x + w.kernel <= w.input) {
        to = copy(to, from, w.kernel * depth_);
        continue;
      }
      int32_t at = x;
      for (int32_t kx = 0; kx < w.kernel; ++kx, at += w.dilation, from += w.dilation * channels_) {
        to = at < 0 || at >= w.input ? fill(to, depth_) : copy(to, from, depth_);
      }
    }
    return to;
  }

  int8_t* fill(int8_t* to, int32_t count) const {
    for (; count > 0; --count) *to++ = padding_;
    return to;
  }

  // The last word overlaps the one before it.
  static int8_t* copy(int8_t* to, const int8_t* from, int32_t count) {
    if (count < 4) {
      for (; count > 0; --count) *to++ = *from++;
      return to;
    }
    const int32_t last = count - 4;
    for (int32_t i = 0; i < last; i += 4) store_word(to + i, load_word(from + i));
    store_word(to + last, load_word(from + last));
    return to + count;
  }

  const Window& window_;
  int32_t channels_;
  int32_t row_bytes_;
  int32_t depth_;
  int32_t first_;
  uint32_t offset_;
  int8_t padding_;
  int8_t* line_;
  bool runs_;
};

// The pixel of an index into the output.
Pixel locate(int32_t index, const Tensor& input, const Window& window) {
  const int32_t row = index / window.w.output;
  const int32_t image_bytes = window.h.input * window.w.input * input.size(1);
  return {index % window.w.output, row % window.h.output,
          input.as<int8_t>() + row / window.h.output * image_bytes};
}

void advance(Pixel& pixel, const Tensor& input, const Window& window) {
  if (++pixel.x < window.w.output) return;
  pixel.x = 0;
  if (++pixel.y < window.h.output) return;
  pixel.y = 0;
  pixel.image += window.h.input * window.w.input * input.size(1);
}

constexpr int32_t kNoBias = 0;

}  // namespace

bool scales_fit(const Args& args, const ConvolutionArguments& at, int32_t terms) {
  const Tensor& shifts = args.tensor(at.shifts);
  int32_t all = -1;  // stays negative as long as every shift is
  const int32_t* shift = shifts.as<int32_t>();
  for (const int32_t* const end = shift + shifts.numel(); shift != end; ++shift) all &= *shift;
  return scale_fits(all) && sums_fit(args.optional_tensor(ConvolutionArguments::kBias), terms);
}

Dot5 scales_of(const Args& args, const ConvolutionArguments& at) {
  const Tensor* bias = args.optional_tensor(ConvolutionArguments::kBias);
  Dot5 dot = {};
  dot.bias = bias == nullptr ? &kNoBias : bias->as<int32_t>();
  dot.bias_step = bias == nullptr ? 0 : sizeof(int32_t);
  dot.multipliers = args.tensor(at.multipliers).as<int32_t>();
  dot.shifts = args.tensor(at.shifts).as<int32_t>();
  dot.scale_step = sizeof(int32_t);
  dot.rounding = rounding_of(args.integer(at.output_offset));
  return dot;
}

void convolve(const Tensor& input, int32_t input_offset, const Window& window,
              const Filters& filters, Dot5 dot, int32_t pixel_bytes, std::byte* scratch) {
  const int32_t pixels = pixels_of(input, window);
  const ConvolutionScratch layout(window, filters, pixels);
  int32_t* const activations = reinterpret_cast<int32_t*>(scratch);
  int8_t* const line = reinterpret_cast<int8_t*>(scratch) + layout.activations_bytes;
  const Patches patches(input, window, filters, input_offset, line);
  int8_t* const out = dot.out;
  dot.activations = activations;
  dot.channels = filters.outputs;
  dot.quads = filters.size(window) >> 2;
  dot.tail = filters.size(window) & 3;

  Pixel pixel = {0, 0, input.as<int8_t>()};
  if (pixels < kRows) {
    for (int32_t row = 0; row < pixels; ++row, advance(pixel, input, window)) {
      patches.widen(activations + row, pixel);
    }
    dot.out = line + layout.line_bytes;
    dot.out_stride = filters.outputs;
    rt_dsp_dot5(&dot, filters.weights);
    for (int32_t row = 0; row < pixels; ++row) {
      std::memcpy(out + row * pixel_bytes, dot.out + row * filters.outputs,
                  static_cast<uint32_t>(filters.outputs));
    }
    return;
  }
  dot.out_stride = pixel_bytes;
  for (int32_t done = 0; done < pixels; done += kRows) {
    if (done + kRows > pixels) {  // the last five are done again as far as they were done
      done = pixels - kRows;
      pixel = locate(done, input, window);
    }
    for (int32_t row = 0; row < kRows; ++row, advance(pixel, input, window)) {
      patches.widen(activations + row, pixel);
    }
    dot.out = out + done * pixel_bytes;
    rt_dsp_dot5(&dot, filters.weights);
  }
}

}  // namespace rt::kernels::dsp
