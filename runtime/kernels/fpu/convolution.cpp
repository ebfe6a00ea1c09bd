// aten::convolution.out, channels last: several pixels times four channels at a time, or, of
// depthwise ones, eight channels of a pixel. Weights as exported; every output is the reference
// kernel's sum in its order.

#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/fpu/float_dot.hpp"
#include "runtime/kernels/reference.hpp"
#include "runtime/kernels/window.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t {
  kInput,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kOutputPadding,
  kGroups,
  kOut,
};

constexpr int32_t kFloat = sizeof(float);
// Depthwise weights are brought to rows of channels, so many channels at a time.
constexpr int32_t kMostLanes = 64;

struct Convolution {
  Window window;
  int32_t images, channels, filters, groups, depth;
  const float* bias;  // nullptr if there is none
  const float* weights;

  explicit Convolution(const Args& args) {
    const Tensor& input = args.tensor(kInput);
    const Tensor& weight = args.tensor(kWeight);
    const Tensor& out = args.tensor(kOut);
    window.h.input = input.size(2);
    window.w.input = input.size(3);
    window.h.output = out.size(2);
    window.w.output = out.size(3);
    window.h.kernel = weight.size(2);
    window.w.kernel = weight.size(3);
    get_pair(args, kStride, window.h.stride, window.w.stride);
    get_pair(args, kPadding, window.h.padding, window.w.padding);
    get_pair(args, kDilation, window.h.dilation, window.w.dilation);
    images = input.size(0);
    channels = input.size(1);
    filters = weight.size(0);
    groups = args.integer(kGroups);
    depth = weight.size(1);
    const Tensor* biases = args.optional_tensor(kBias);
    bias = biases == nullptr ? nullptr : biases->as<float>();
    weights = weight.as<float>();
  }

  bool is_depthwise() const { return depth == 1 && groups > 1 && filters == groups; }
  int32_t taps() const { return window.h.kernel * window.w.kernel; }
  int32_t line() const { return window.w.input * channels; }  // elements
  int32_t lanes() const { return channels < kMostLanes ? channels : kMostLanes; }
};

bool suits(const Args& args) {
  const Tensor& weight = args.tensor(kWeight);
  if (args.boolean(kTransposed) || weight.rank() != 4) return false;
  const bool lie_well = args.tensor(kInput).is_channels_last() &&
                        args.tensor(kOut).is_channels_last() && weight.is_channels_last();
  if (!lie_well) return false;
  const Convolution convolution(args);
  if (convolution.is_depthwise()) return convolution.channels >= kLaneChannels;
  // What lies under a line of the kernel must be one run, or lie in a single line of runs.
  const bool is_run = convolution.groups == 1 && convolution.window.w.dilation == 1;
  return convolution.filters / convolution.groups >= kDotChannels &&
         (is_run || convolution.window.w.kernel == 1 || convolution.window.h.kernel == 1);
}

// Outputs along one axis for which the same positions of the kernel lie inside the input.
struct Segment {
  int32_t begin, end;
  Axis::Range range;  // of the first output

  Segment(const Axis& axis, int32_t first)
      : begin(first), end(first + 1), range(axis.range(first)) {
    while (end < axis.output) {
      const Axis::Range next = axis.range(end);
      if (next.begin != range.begin || next.end != range.end) break;
      ++end;
    }
  }
};

// Calls visit(rows, columns) for all rectangles of outputs that see the same part of the kernel.
template <typename Visit>
void for_segments(const Window& window, Visit visit) {
  for (int32_t y = 0; y < window.h.output;) {
    const Segment rows(window.h, y);
    for (int32_t x = 0; x < window.w.output;) {
      const Segment columns(window.w, x);
      visit(rows, columns);
      x = columns.end;
    }
    y = rows.end;
  }
}

// The input element under the kernel's first position inside, for the first output of both
// segments.
int32_t corner(const Convolution& c, const Segment& rows, const Segment& columns) {
  const int32_t y = rows.range.origin + rows.range.begin * c.window.h.dilation;
  const int32_t x = columns.range.origin + columns.range.begin * c.window.w.dilation;
  return y * c.line() + x * c.channels;
}

// A rectangle's pixels of one group.
class Tiles {
 public:
  Tiles(const Convolution& convolution, const Segment& rows, const Segment& columns, int32_t group)
      : c_(convolution), of_group_(c_.filters / c_.groups) {
    const int32_t height = rows.range.end - rows.range.begin;
    const int32_t width = columns.range.end - columns.range.begin;
    const int32_t kernel_line = c_.window.w.kernel * c_.depth;
    dot_.weights_row = c_.window.h.kernel * kernel_line * kFloat;
    weights_ = c_.weights + group * of_group_ * c_.window.h.kernel * kernel_line +
               rows.range.begin * kernel_line + columns.range.begin * c_.depth;
    bias_ = c_.bias == nullptr ? nullptr : c_.bias + group * of_group_;
    if (c_.groups == 1 && c_.window.w.dilation == 1) {
      count_ = width * c_.depth;
      rows_ = count_ == 0 ? 0 : height;
      x_gap_ = c_.window.h.dilation * c_.line() - count_;
      weights_gap_ = kernel_line - count_;
    } else {
      count_ = c_.depth;
      rows_ = height * width;
      const bool is_column = c_.window.w.kernel == 1;
      x_gap_ = (is_column ? c_.window.h.dilation * c_.line() : c_.window.w.dilation * c_.channels) -
               c_.depth;
      weights_gap_ = 0;
    }
  }

  void add(const float* x, float* out) {
    dot_.x[pixels_] = x;
    out_[pixels_] = out;
    if (++pixels_ == kPixels) flush();
  }

  void flush() {
    if (pixels_ == 0) return;
    for (int32_t p = pixels_; p < kPixels; ++p) {
      dot_.x[p] = dot_.x[0];
      out_[p] = out_[0];
    }
    pixels_ = 0;
    run(0, of_group_ / kDotChannels);
    // The last four again, as far as they were done.
    if (of_group_ % kDotChannels != 0) run(of_group_ - kDotChannels, 1);
  }

 private:
  void run(int32_t first, int32_t blocks) {
    for (int32_t p = 0; p < kPixels; ++p) dot_.out[p] = out_[p] + first;
    dot_.weights = weights_ + first * (dot_.weights_row / kFloat);
    dot_.count = count_;
    dot_.rows = rows_;
    dot_.x_gap = x_gap_ * kFloat;
    dot_.weights_gap = weights_gap_ * kFloat;
    dot_.bias = bias_ == nullptr ? nullptr : bias_ + first;
    dot_.blocks = blocks;
    rt_float_dot(&dot_);
  }

  const Convolution& c_;
  int32_t of_group_;
  Dot dot_;
  float* out_[kPixels];
  int32_t pixels_ = 0;
  const float* weights_;
  const float* bias_;
  int32_t count_, rows_, x_gap_, weights_gap_;  // elements
};

void convolve(const Convolution& c, const float* image, float* result) {
  for_segments(c.window, [&](const Segment& rows, const Segment& columns) {
    for (int32_t group = 0; group < c.groups; ++group) {
      Tiles tiles(c, rows, columns, group);
      const float* line = image + corner(c, rows, columns) + group * c.depth;
      const int32_t out_first = group * (c.filters / c.groups);
      for (int32_t y = rows.begin; y < rows.end; ++y, line += c.window.h.stride * c.line()) {
        const float* x = line;
        float* out = result + (y * c.window.w.output + columns.begin) * c.filters + out_first;
        for (int32_t i = columns.begin; i < columns.end; ++i) {
          tiles.add(x, out);
          x += c.window.w.stride * c.channels;
          out += c.filters;
        }
      }
      tiles.flush();
    }
  });
}

// Eight channels or more, `count` of them, from `first` on; `rows` are their weights, tap by tap.
void convolve_lanes(const Convolution& c, const float* image, float* result, int32_t first,
                    int32_t count, const float* rows_of_weights) {
  for_segments(c.window, [&](const Segment& rows, const Segment& columns) {
    const int32_t height = rows.range.end - rows.range.begin;
    const int32_t width = columns.range.end - columns.range.begin;
    const int32_t x_column = c.window.w.dilation * c.channels;
    const float* weights =
        rows_of_weights + (rows.range.begin * c.window.w.kernel + columns.range.begin) * count;
    const float* line = image + corner(c, rows, columns) + first;
    for (int32_t y = rows.begin; y < rows.end; ++y, line += c.window.h.stride * c.line()) {
      const float* x = line;
      float* out = result + (y * c.window.w.output + columns.begin) * c.filters + first;
      for (int32_t i = columns.begin; i < columns.end; ++i) {
        const auto run = [&](int32_t from, int32_t blocks) {
          Lanes lanes = {x + from,
                         out + from,
                         c.bias == nullptr ? nullptr : c.bias + first + from,
                         weights + from,
                         height,
                         width,
                         x_column * kFloat,
                         (c.window.h.dilation * c.line() - width * x_column) * kFloat,
                         count * kFloat,
                         (c.window.w.kernel - width) * count * kFloat,
                         blocks};
          rt_float_lanes(&lanes);
        };
        run(0, count / kLaneChannels);
        if (count % kLaneChannels != 0) run(count - kLaneChannels, 1);
        x += c.window.w.stride * c.channels;
        out += c.filters;
      }
    }
  });
}

void convolve_depthwise(const Convolution& c, const float* image, float* result, float* scratch) {
  const int32_t taps = c.taps();
  for (int32_t first = 0; first < c.channels; first += kMostLanes) {
    // The last channels again, if fewer than eight are left.
    const int32_t left = c.channels - first;
    const int32_t begin = left < kLaneChannels ? c.channels - kLaneChannels : first;
    const int32_t end = left < kMostLanes ? c.channels : first + kMostLanes;
    const int32_t count = end - begin;
    const float* from = c.weights + begin * taps;
    for (int32_t lane = 0; lane < count; ++lane) {
      for (int32_t tap = 0; tap < taps; ++tap) scratch[tap * count + lane] = *from++;
    }
    convolve_lanes(c, image, result, begin, count, scratch);
  }
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_convolution(args, needs));
  if (!suits(args)) return Error::kOk;
  const Convolution c(args);
  if (c.is_depthwise()) {
    needs.temporary_bytes = static_cast<uint32_t>(c.taps() * c.lanes() * kFloat);
  }
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_convolution(args, temporary);
  const Convolution c(args);
  const float* image = args.tensor(kInput).as<float>();
  float* result = args.tensor(kOut).as<float>();
  for (int32_t n = 0; n < c.images; ++n) {
    if (c.is_depthwise()) {
      convolve_depthwise(c, image, result, reinterpret_cast<float*>(temporary.data()));
    } else {
      convolve(c, image, result);
    }
    image += c.window.h.input * c.line();
    result += c.window.h.output * c.window.w.output * c.filters;
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::convolution.out", prepare, run);

}  // namespace rt::kernels::fpu
