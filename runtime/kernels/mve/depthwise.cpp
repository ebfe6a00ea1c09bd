#include "runtime/kernels/mve/depthwise.hpp"

#include "runtime/kernels/mve/copy.hpp"

namespace rt::kernels::mve {
namespace {

constexpr int32_t kNoBias = 0;

class Group {
 public:
  Group(const Depthwise& depthwise, std::byte* scratch)
      : d_(depthwise),
        folded_(reinterpret_cast<int32_t*>(scratch)),
        weights_(reinterpret_cast<int8_t*>(folded_ + kStripChannels)),
        strips_(weights_ + kStripChannels * d_.window_bytes()),
        count_(d_.channels < kStripChannels ? d_.channels : kStripChannels) {
    rt_mve_fill(weights_, kStripChannels * d_.window_bytes(), 0);
    // Lines outside the input stay as they are now.
    rt_mve_fill(strips_, kStripChannels * d_.strip_bytes(), -d_.input_offset);
    rt_mve_fill(padding_, kStripChannels, -d_.input_offset);
  }

  int32_t count() const { return count_; }

  void convolve(int32_t channel, const int8_t* image, int8_t* out) {
    load_weights(channel);
    const DepthwiseLine first = line_of(channel, 0);
    // The last four channels are done again as far as they were done.
    const int32_t rest = count_ - kChannels;
    const DepthwiseLine last = line_of(channel, rest);
    const auto function = d_.window_bytes() == kVectorBytes ? rt_mve_depthwise : rt_mve_depthwise32;
    const StridedAxis& cross = d_.cross;
    out += channel;
    int32_t origin = -cross.axis.padding;
    for (int32_t i = 0; i < cross.axis.output; ++i, origin += cross.axis.stride) {
      load_strips(image + channel, origin);
      function(&first, out);
      if (rest > 0) function(&last, out + rest);
      out += cross.output_bytes;
    }
  }

 private:
  void load_weights(int32_t channel) {
    const int32_t taps = d_.cross.axis.kernel;
    for (int32_t k = 0; k < d_.line.axis.kernel; ++k) {
      rt_mve_scatter(weights_ + k * taps, 1, d_.weights + k * d_.line.weight_bytes + channel,
                     d_.cross.weight_bytes, taps, d_.window_bytes(), count_);
    }
    const Fold fold = {d_.window_bytes(), count_, d_.input_offset, d_.bias == nullptr ? 0 : 4};
    rt_mve_fold_offset(d_.bias == nullptr ? &kNoBias : d_.bias + channel, weights_, folded_, &fold);
  }

  void load_strips(const int8_t* image, int32_t origin) {
    const Axis& line = d_.line.axis;
    if (d_.lines_advance() < line.kernel) {
      load_lines(image, origin, 0, -line.padding, d_.lines());
      return;
    }
    for (int32_t i = 0; i < line.output; ++i) {
      load_lines(image, origin, i * line.kernel, i * line.stride - line.padding, line.kernel);
    }
  }

  // Lines [to, to + count) of the strips, from line `from` of the input on, `dilation` apart.
  void load_lines(const int8_t* image, int32_t origin, int32_t to, int32_t from, int32_t count) {
    const Axis& line = d_.line.axis;
    const int32_t begin = from < 0 ? (-from + line.dilation - 1) / line.dilation : 0;
    int32_t end = from >= line.input ? 0 : (line.input - 1 - from) / line.dilation + 1;
    if (end > count) end = count;
    if (end <= begin) return;
    const int32_t taps = d_.cross.axis.kernel;
    image += (from + begin * line.dilation) * d_.line.input_bytes;
    int8_t* const strip = strips_ + (to + begin) * taps;
    if (taps == 3 && count_ == kStripChannels) {
      Scatter3 scatter = {strip, end - begin, {}, {}, d_.strip_bytes()};
      for (int32_t tap = 0; tap < 3; ++tap) {
        scatter.from[tap] = tap_of(image, origin, tap, scatter.from_bytes[tap]);
      }
      rt_mve_scatter3(&scatter);
      return;
    }
    for (int32_t tap = 0; tap < taps; ++tap) {
      int32_t bytes = 0;
      const int8_t* const first = tap_of(image, origin, tap, bytes);
      rt_mve_scatter(strip + tap, taps, first, bytes, end - begin, d_.strip_bytes(), count_);
    }
  }

  // @return where a tap across the line begins, and the bytes from line to line; outside the input
  //     the padding, over and over.
  const int8_t* tap_of(const int8_t* image, int32_t origin, int32_t tap, int32_t& bytes) const {
    const int32_t at = origin + tap * d_.cross.axis.dilation;
    const bool inside = at >= 0 && at < d_.cross.axis.input;
    bytes = inside ? d_.line.axis.dilation * d_.line.input_bytes : 0;
    return inside ? image + at * d_.cross.input_bytes : padding_;
  }

  DepthwiseLine line_of(int32_t channel, int32_t first) const {
    return {d_.line.axis.output,
            d_.line.output_bytes,
            d_.lines_advance() * d_.cross.axis.kernel,
            d_.away ? 1 : 0,
            d_.output_offset,
            strips_ + first * d_.strip_bytes(),
            weights_ + first * d_.window_bytes(),
            d_.multipliers + channel + first,
            d_.shifts + channel + first,
            d_.strip_bytes(),
            folded_ + first};
  }

  const Depthwise& d_;
  int32_t* folded_;
  int8_t* weights_;
  int8_t* strips_;
  int32_t count_;  // channels of a group
  int8_t padding_[kStripChannels];
};

}  // namespace

void convolve_depthwise(const Depthwise& depthwise, const int8_t* image, int8_t* out,
                        std::byte* scratch) {
  Group group(depthwise, scratch);
  const int32_t last = depthwise.channels - group.count();
  for (int32_t channel = 0; channel < depthwise.channels; channel += group.count()) {
    group.convolve(channel < last ? channel : last, image, out);
  }
}

}  // namespace rt::kernels::mve
