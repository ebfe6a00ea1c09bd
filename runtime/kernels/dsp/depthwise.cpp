#include "runtime/kernels/dsp/depthwise.hpp"

#include <cstddef>

namespace rt::kernels::dsp {
namespace {

// The taps a and b of four channels, as four pairs.
void widen_taps(int32_t* to, uint32_t a, uint32_t b, uint32_t offset) {
  const uint32_t low = pack_low(a, b);
  const uint32_t high = pack_high(a, b);
  to[0] = widen_even(offset, low);
  to[1] = widen_odd(offset, low);
  to[2] = widen_even(offset, high);
  to[3] = widen_odd(offset, high);
}

// A tap without a partner: channels 0 and 2, 1 and 3.
void widen_tap(int32_t* to, uint32_t a, uint32_t offset) {
  to[0] = widen_even(offset, a);
  to[1] = widen_odd(offset, a);
}

int32_t double_halves(int32_t pair) {
  asm("sadd16 %0, %0, %0" : "+r"(pair));
  return pair;
}

int32_t low_half(int32_t pair) { return static_cast<int16_t>(pair); }
int32_t high_half(int32_t pair) { return pair >> 16; }

class Quad {
 public:
  Quad(const Depthwise& depthwise, std::byte* scratch)
      : d_(depthwise),
        strip_(reinterpret_cast<int32_t*>(scratch)),
        block_(strip_ + d_.strip_lines() * d_.strip_words()),
        padding_(static_cast<uint8_t>(-d_.input_offset) * 0x0101'0101U),
        offset_(both(d_.input_offset)) {
    // Lines outside the input stay as they are now: padding is zero.
    for (int32_t* word = strip_; word != block_; ++word) *word = 0;
  }

  void convolve(int32_t channel, const int8_t* image, int8_t* out) {
    load_block(channel);
    const auto& [line, cross] = lines();
    const int32_t padding = line.axis.padding;
    const int32_t room = d_.strip_lines() - padding;
    const int32_t count = line.axis.input < room ? line.axis.input : room;
    int32_t* const first = strip_ + padding * d_.strip_words();
    int32_t origin = -cross.axis.padding;
    for (int32_t i = 0; i < cross.axis.output; ++i, origin += cross.axis.stride) {
      if (cross.axis.kernel == 3) {
        widen_threes(first, image + channel, origin, count);
      } else {
        widen_any(first, image + channel, origin, count);
      }
      finish_line(out + channel + i * cross.output_bytes);
    }
  }

 private:
  struct Lines {
    const StridedAxis& line;
    const StridedAxis& cross;
  };
  Lines lines() const { return {d_.line, d_.cross}; }

  void load_block(int32_t channel) {
    int32_t* to = block_;
    for (int32_t c = channel; c < channel + kQuad; ++c) {
      *to++ = d_.bias == nullptr ? 0 : 2 * d_.bias[c];
    }
    const int32_t taps = d_.cross.axis.kernel;
    const int32_t step = d_.cross.weight_bytes;
    for (int32_t k = 0; k < d_.line.axis.kernel; ++k) {
      const int8_t* from = d_.weights + k * d_.line.weight_bytes + channel;
      int32_t* const row = to;
      int32_t tap = 0;
      for (; tap + 1 < taps; tap += 2, from += 2 * step, to += 4) {
        widen_taps(to, load_word(from), load_word(from + step), 0);
      }
      if (tap < taps) {
        widen_tap(to, load_word(from), 0);
        to += 2;
      }
      for (int32_t* word = row; word != to; ++word) *word = double_halves(*word);
    }
    for (int32_t c = channel; c < channel + kQuad; ++c) {
      *to++ = d_.multipliers[c];
      *to++ = ~d_.shifts[c];
    }
  }

  void widen_threes(int32_t* to, const int8_t* image, int32_t origin, int32_t count) const {
    int32_t a_step = 0;
    int32_t b_step = 0;
    int32_t c_step = 0;
    const int8_t* a = tap_of(image, origin, 0, a_step);
    const int8_t* b = tap_of(image, origin, 1, b_step);
    const int8_t* c = tap_of(image, origin, 2, c_step);
    for (; count > 0; --count, a += a_step, b += b_step, c += c_step, to += 6) {
      widen_taps(to, load_word(a), load_word(b), offset_);
      widen_tap(to + 4, load_word(c), offset_);
    }
  }

  // Two taps at a time, down the line.
  void widen_any(int32_t* to, const int8_t* image, int32_t origin, int32_t count) const {
    const int32_t taps = d_.cross.axis.kernel;
    const int32_t words = d_.strip_words();
    for (int32_t tap = 0; tap < taps; tap += 2, to += 4) {
      int32_t a_step = 0;
      int32_t b_step = 0;
      const int8_t* a = tap_of(image, origin, tap, a_step);
      if (tap + 1 == taps) {
        for (int32_t i = 0; i < count; ++i, a += a_step) {
          widen_tap(to + i * words, load_word(a), offset_);
        }
        return;
      }
      const int8_t* b = tap_of(image, origin, tap + 1, b_step);
      for (int32_t i = 0; i < count; ++i, a += a_step, b += b_step) {
        widen_taps(to + i * words, load_word(a), load_word(b), offset_);
      }
    }
  }

  // @return where a tap across the line begins, and the bytes from line to line; outside the input
  //     one word of padding, over and over.
  const int8_t* tap_of(const int8_t* image, int32_t origin, int32_t tap, int32_t& step) const {
    const int32_t at = origin + tap * d_.cross.axis.dilation;
    const bool inside = at >= 0 && at < d_.cross.axis.input;
    step = inside ? d_.line.input_bytes : 0;
    return inside ? image + at * d_.cross.input_bytes : reinterpret_cast<const int8_t*>(&padding_);
  }

  void finish_line(int8_t* out) const {
    const Axis& axis = d_.line.axis;
    const int32_t words = d_.strip_words();
    const int32_t out_bytes = d_.line.output_bytes;
    if (axis.kernel == 3 && axis.dilation == 1 && d_.cross.axis.kernel == 3) {
      const DepthwiseLine line = {(axis.stride - 3) * words * 4, out_bytes,
                                  out + axis.output * out_bytes, d_.rounding};
      rt_dsp_depthwise3(strip_, block_, out, &line);
      return;
    }
    const int32_t* strip = strip_;
    for (int32_t i = 0; i < axis.output; ++i, strip += axis.stride * words, out += out_bytes) {
      finish_any(strip, out);
    }
  }

  void finish_any(const int32_t* strip, int8_t* out) const {
    const int32_t words = d_.strip_words();
    const int32_t pairs = d_.cross.axis.kernel / 2;
    const int32_t* w = block_ + kQuad;
    int32_t a = block_[0];
    int32_t b = block_[1];
    int32_t c = block_[2];
    int32_t d = block_[3];
    for (int32_t k = 0; k < d_.line.axis.kernel; ++k, strip += d_.line.axis.dilation * words) {
      const int32_t* x = strip;
      for (int32_t pair = 0; pair < pairs; ++pair, x += 4, w += 4) {
        a = multiply_pairs(x[0], w[0], a);
        b = multiply_pairs(x[1], w[1], b);
        c = multiply_pairs(x[2], w[2], c);
        d = multiply_pairs(x[3], w[3], d);
      }
      if ((d_.cross.axis.kernel & 1) == 0) continue;
      a += low_half(x[0]) * low_half(w[0]);
      b += low_half(x[1]) * low_half(w[1]);
      c += high_half(x[0]) * high_half(w[0]);
      d += high_half(x[1]) * high_half(w[1]);
      w += 2;
    }
    const auto finish = [&](int32_t doubled, const int32_t* scale) {
      return static_cast<int8_t>(requantize_doubled(doubled, scale[0], scale[1], d_.rounding));
    };
    out[0] = finish(a, w);
    out[1] = finish(b, w + 2);
    out[2] = finish(c, w + 4);
    out[3] = finish(d, w + 6);
  }

  const Depthwise& d_;
  int32_t* strip_;
  int32_t* block_;
  uint32_t padding_;
  uint32_t offset_;
};

}  // namespace

void convolve_depthwise(const Depthwise& depthwise, const int8_t* image, int8_t* out,
                        std::byte* scratch) {
  Quad quad(depthwise, scratch);
  for (int32_t channel = 0; channel < depthwise.channels; channel += kQuad) {
    // The last four are done again as far as they were done.
    const int32_t last = depthwise.channels - kQuad;
    quad.convolve(channel < last ? channel : last, image, out);
  }
}

}  // namespace rt::kernels::dsp
