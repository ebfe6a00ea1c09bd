#include "runtime/kernels/mve/int8_convolution.hpp"

#include "runtime/kernels/mve/copy.hpp"

namespace rt::kernels::mve {
namespace {

constexpr int32_t kNoBias = 0;
// A strip takes no more than this, unless three outputs need it.
constexpr int32_t kStripBytes = 4096;

bool is_pointwise(const Window& window) {
  const auto& [h, w] = window;
  return h.kernel == 1 && w.kernel == 1 && h.padding == 0 && w.padding == 0;
}

// The inputs under the filter of some outputs of one column, line by line: patches of consecutive
// outputs overlap in it, each contiguous and in the order of the weights. With vertical dilation
// they do not overlap.
struct StripLayout {
  int32_t line_bytes;     // kernel width * depth
  int32_t lines_advance;  // from output to output
  int32_t outputs;        // that a strip is for
  int32_t lines_of(int32_t count, const Window& window) const {
    return (count - 1) * lines_advance + window.h.kernel;
  }

  StripLayout(const Window& window, const Filters& filters) {
    const Axis& h = window.h;
    line_bytes = window.w.kernel * filters.depth;
    lines_advance = h.dilation == 1 && h.stride < h.kernel ? h.stride : h.kernel;
    const int32_t lines = kStripBytes / line_bytes;
    outputs = lines < h.kernel ? 0 : (lines - h.kernel) / lines_advance + 1;
    outputs = outputs < kPixels ? kPixels : outputs - outputs % kPixels;
    if (outputs > h.output) outputs = h.output;
  }
};

struct Layout {
  int32_t folded_bytes, spare_bytes, strip_bytes;

  Layout(const Window& window, const Filters& filters)
      : folded_bytes(filters.outputs * 4), spare_bytes((filters.outputs + 3) & ~3) {
    const StripLayout strip(window, filters);
    strip_bytes =
        is_pointwise(window) ? 0 : strip.lines_of(strip.outputs, window) * strip.line_bytes;
  }
};

// Calls the dot product for up to three pixels.
class Pixels {
 public:
  Pixels(const Dot3& dot, const Filters& filters, int8_t* spare)
      : dot_(dot),
        filters_(filters),
        spare_(spare),
        function_(needs_away(dot.offset, dot.min) ? rt_mve_dot3 : rt_mve_dot3_relu) {
    dot_.channels = filters.outputs & ~3;
  }

  void add(const int8_t* patch, int8_t* out) {
    dot_.activations[count_] = patch;
    dot_.out[count_] = out;
    if (++count_ == kPixels) multiply();
  }

  void flush() {
    if (count_ == 0) return;
    for (; count_ < kPixels; ++count_) {
      dot_.activations[count_] = dot_.activations[0];
      dot_.out[count_] = spare_;
    }
    multiply();
  }

 private:
  void multiply() {
    count_ = 0;
    function_(&dot_, filters_.weights);
    if (dot_.channels != filters_.outputs) multiply_last();
  }

  // The last four filters are done again as far as they were done.
  void multiply_last() {
    const int32_t last = filters_.outputs - kChannels;
    Dot3 dot = dot_;
    dot.channels = kChannels;
    dot.bias += last;
    dot.multipliers += last;
    dot.shifts += last;
    for (int8_t*& out : dot.out) out += last;
    function_(&dot, filters_.weights + last * dot.depth);
  }

  Dot3 dot_;
  const Filters& filters_;
  int8_t* spare_;
  void (*function_)(const Dot3*, const int8_t*);
  int32_t count_ = 0;
};

class Strip {
 public:
  Strip(const Window& window, const Filters& filters, int32_t channels, int32_t padding,
        int8_t* bytes)
      : layout(window, filters),
        window_(window),
        depth_(filters.depth),
        channels_(channels),
        padding_(padding),
        bytes_(bytes) {}

  // Fills in what lies under the filter at outputs [y, y + count) of column x.
  void load(const int8_t* image, int32_t x, int32_t y, int32_t count) const {
    const Axis& h = window_.h;
    const Axis::Range columns = window_.w.range(x);
    const int8_t* from = image + (columns.origin + columns.begin * window_.w.dilation) * channels_;
    const bool clipped = columns.end - columns.begin < window_.w.kernel;
    if (clipped) rt_mve_fill(bytes_, layout.lines_of(count, window_) * layout.line_bytes, padding_);
    if (layout.lines_advance < h.kernel) {
      const int32_t origin = y * h.stride - h.padding;
      load_lines(from, columns, 0, origin, layout.lines_of(count, window_));
      return;
    }
    for (int32_t i = 0; i < count; ++i) {
      load_lines(from, columns, i * h.kernel, (y + i) * h.stride - h.padding, h.kernel);
    }
  }

  const int8_t* patch(int32_t i) const {
    return bytes_ + i * layout.lines_advance * layout.line_bytes;
  }

  const StripLayout layout;

 private:
  // Lines [line, line + count) of the strip, from input line y on, `dilation` apart.
  void load_lines(const int8_t* from, const Axis::Range& columns, int32_t line, int32_t y,
                  int32_t count) const {
    const Axis& h = window_.h;
    int32_t begin = y < 0 ? (-y + h.dilation - 1) / h.dilation : 0;
    int32_t end = y >= h.input ? 0 : (h.input - 1 - y) / h.dilation + 1;
    if (begin > count) begin = count;
    if (end > count) end = count;
    if (end < begin) end = begin;
    int8_t* to = bytes_ + line * layout.line_bytes;
    rt_mve_fill(to, begin * layout.line_bytes, padding_);
    rt_mve_fill(to + end * layout.line_bytes, (count - end) * layout.line_bytes, padding_);
    const int32_t row_bytes = window_.w.input * channels_;
    from += (y + begin * h.dilation) * row_bytes;
    to += begin * layout.line_bytes + columns.begin * depth_;
    const int32_t taps = columns.end - columns.begin;
    // Without dilation and groups, the taps of a line are one run.
    const bool run = window_.w.dilation == 1 && depth_ == channels_;
    const int32_t runs = run ? (taps > 0 ? 1 : 0) : taps;
    const int32_t bytes = run ? taps * depth_ : depth_;
    for (int32_t i = 0; i < runs; ++i) {
      rt_mve_copy_rows(to + i * depth_, layout.line_bytes,
                       from + i * window_.w.dilation * channels_, h.dilation * row_bytes, bytes,
                       end - begin);
    }
  }

  const Window& window_;
  int32_t depth_;
  int32_t channels_;
  int32_t padding_;
  int8_t* bytes_;
};

void convolve_strips(const Tensor& input, const Window& window, const Filters& filters,
                     const Strip& strip, Pixels& pixels, int8_t* out, int32_t pixel_bytes) {
  const auto& [h, w] = window;
  const int8_t* image = input.as<int8_t>() + filters.first;
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * input.size(1)) {
    for (int32_t x = 0; x < w.output; ++x) {
      for (int32_t y = 0; y < h.output; y += strip.layout.outputs) {
        const int32_t left = h.output - y;
        const int32_t count = left < strip.layout.outputs ? left : strip.layout.outputs;
        strip.load(image, x, y, count);
        for (int32_t i = 0; i < count; ++i) {
          pixels.add(strip.patch(i), out + ((n * h.output + y + i) * w.output + x) * pixel_bytes);
        }
        pixels.flush();
      }
    }
  }
}

void convolve_points(const Tensor& input, const Window& window, const Filters& filters,
                     Pixels& pixels, int8_t* out, int32_t pixel_bytes) {
  const auto& [h, w] = window;
  const int32_t channels = input.size(1);
  const int8_t* image = input.as<int8_t>() + filters.first;
  for (int32_t n = 0; n < input.size(0); ++n, image += h.input * w.input * channels) {
    for (int32_t y = 0; y < h.output; ++y) {
      const int8_t* patch = image + y * h.stride * w.input * channels;
      for (int32_t x = 0; x < w.output; ++x, patch += w.stride * channels, out += pixel_bytes) {
        pixels.add(patch, out);
      }
    }
  }
  pixels.flush();
}

}  // namespace

Stage::Stage(const Args& args, const ConvolutionArguments& at)
    : bias(args.is_none(ConvolutionArguments::kBias)
               ? nullptr
               : args.tensor(ConvolutionArguments::kBias).as<int32_t>()),
      multipliers(args.tensor(at.multipliers).as<int32_t>()),
      shifts(args.tensor(at.shifts).as<int32_t>()),
      input_offset(args.integer(at.input_offset)),
      output_offset(args.integer(at.output_offset)),
      min(args.integer(at.activation_min)),
      max(args.integer(at.activation_max)) {}

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
  return scale_fits(all);
}

uint32_t convolution_bytes(const Window& window, const Filters& filters) {
  const Layout layout(window, filters);
  return static_cast<uint32_t>(layout.folded_bytes + layout.spare_bytes + layout.strip_bytes);
}

void convolve(const Tensor& input, const Window& window, const Filters& filters, const Stage& stage,
              int8_t* out, int32_t pixel_bytes, std::byte* scratch) {
  const Layout layout(window, filters);
  int32_t* const folded = reinterpret_cast<int32_t*>(scratch);
  int8_t* const spare = reinterpret_cast<int8_t*>(scratch) + layout.folded_bytes;
  const int32_t depth = filters.size(window);
  const Fold fold = {depth, filters.outputs, stage.input_offset, stage.bias == nullptr ? 0 : 4};
  rt_mve_fold_offset(stage.bias == nullptr ? &kNoBias : stage.bias, filters.weights, folded, &fold);
  const Dot3 dot = {{},           depth,    {}, folded, stage.multipliers,
                    stage.shifts, 16,       {}, 0,      stage.output_offset,
                    stage.min,    stage.max};
  Pixels pixels(dot, filters, spare);
  if (is_pointwise(window)) {
    convolve_points(input, window, filters, pixels, out, pixel_bytes);
    return;
  }
  const Strip strip(window, filters, input.size(1), -stage.input_offset,
                    spare + layout.spare_bytes);
  convolve_strips(input, window, filters, strip, pixels, out, pixel_bytes);
}

}  // namespace rt::kernels::mve
