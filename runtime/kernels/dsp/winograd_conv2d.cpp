// cortex_m::quantized_conv2d.winograd1: 3x3, stride 1, one group, weights transformed ahead of time
// (winograd.hpp).

#include "runtime/kernels/dsp/requantize.hpp"
#include "runtime/kernels/dsp/winograd.hpp"
#include "runtime/kernels/int8_convolution.hpp"
#include "runtime/kernels/planned_scratch.hpp"

namespace rt::kernels::dsp {
namespace {

using A = ConvolutionArguments;
constexpr A kAt = {.input_offset = 6,
                   .output_offset = 7,
                   .multipliers = 8,
                   .shifts = 9,
                   .activation_min = 10,
                   .activation_max = 11,
                   .out = 13};
constexpr uint32_t kScratch = 12;
constexpr int32_t kKernel = 3;

uint32_t add_pairs(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  asm("sadd16 %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
uint32_t subtract_pairs(uint32_t a, uint32_t b) {
  uint32_t difference = 0;
  asm("ssub16 %0, %1, %2" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
}
uint32_t unpack_even(uint32_t bytes) {
  uint32_t pair = 0;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
  return pair;
}
uint32_t unpack_odd(uint32_t bytes) {
  uint32_t pair = 0;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
  return pair;
}

// B^T times four values, `step` words from place to place.
void transform(uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t* to, int32_t step) {
  to[0] = subtract_pairs(d0, d2);
  to[step] = add_pairs(d1, d2);
  to[2 * step] = subtract_pairs(d2, d1);
  to[3 * step] = subtract_pairs(d1, d3);
}

// One line of tiles after another.
class Lines {
 public:
  Lines(const Args& args, std::byte* scratch)
      : input_(args.tensor(A::kInput)),
        out_(args.tensor(kAt.out)),
        window_(convolution_window(args, out_, kKernel, kKernel)),
        channels_(input_.size(1)),
        filters_(out_.size(1)),
        row_bytes_(window_.w.input * channels_),
        weights_(args.tensor(A::kWeight).as<int32_t>()),
        bias_(args.tensor(A::kBias).as<int32_t>()),
        multipliers_(args.tensor(kAt.multipliers).as<int32_t>()),
        shifts_(args.tensor(kAt.shifts).as<int32_t>()),
        rounding_(rounding_of(args.integer(kAt.output_offset))),
        padding_(static_cast<uint8_t>(-args.integer(kAt.input_offset)) * 0x0101'0101U) {
    const WinogradScratch layout(channels_, filters_);
    inputs_ = reinterpret_cast<uint32_t*>(scratch);
    sums_ = reinterpret_cast<int32_t*>(scratch) + layout.inputs;
    place_sums_ = layout.sums / kPlaces;
    columns_ = inputs_ + layout.inputs + layout.sums;
    uint32_t* line = columns_ + layout.columns;
    zeros_ = reinterpret_cast<int8_t*>(line);
    for (int32_t i = 0; i < layout.padding; ++i) line[i] = padding_;
  }

  void all() {
    for (int32_t image = 0; image < input_.size(0); ++image) {
      const int8_t* const from = input_.as<int8_t>() + image * window_.h.input * row_bytes_;
      for (int32_t y = 0; y < window_.h.output; y += 2) {
        const int32_t row = image * window_.h.output + y;
        for (int32_t x = 0; x < window_.w.output; x += 2 * kTiles) {
          widen(from, x - window_.w.padding, y - window_.h.padding);
          multiply(x, y, out_.as<int8_t>() + (row * window_.w.output + x) * filters_);
        }
      }
    }
  }

 private:
  // Transforms the 4 x 10 inputs whose first is at (x, y), which may lie outside.
  void widen(const int8_t* image, int32_t x, int32_t y) {
    const int32_t before = x >= 0 ? 0 : (x < -kColumns ? kColumns : -x);
    const int32_t room = window_.w.input - x < kColumns ? window_.w.input - x : kColumns;
    const int32_t end = room > before ? room : before;
    const int8_t* rows[4];
    for (int32_t row = 0; row < 4; ++row) {
      const bool inside = y + row >= 0 && y + row < window_.h.input && end > before;
      rows[row] = inside ? image + (y + row) * row_bytes_ + (x + before) * channels_ : zeros_;
    }
    for (int32_t channel = 0; channel < channels_; channel += 4) {
      uint32_t* column = columns_;
      uint32_t* const first = column + 8 * before;
      uint32_t* const last = column + 8 * end;
      for (; column != first; column += 8) outside(column);
      const int8_t* r0 = rows[0] + channel;
      const int8_t* r1 = rows[1] + channel;
      const int8_t* r2 = rows[2] + channel;
      const int8_t* r3 = rows[3] + channel;
      for (; column != last; column += 8) {
        const uint32_t a = load_word(r0), b = load_word(r1), c = load_word(r2), d = load_word(r3);
        transform(unpack_even(a), unpack_even(b), unpack_even(c), unpack_even(d), column, 1);
        transform(unpack_odd(a), unpack_odd(b), unpack_odd(c), unpack_odd(d), column + 4, 1);
        r0 += channels_;
        r1 += channels_;
        r2 += channels_;
        r3 += channels_;
      }
      for (uint32_t* const all = columns_ + 8 * kColumns; column != all; column += 8) {
        outside(column);
      }
      across(inputs_ + channel / 2 * kTiles);
    }
  }

  // A column that lies beside the input.
  void outside(uint32_t* column) const {
    const uint32_t even = unpack_even(padding_);
    transform(even, even, even, even, column, 1);
    transform(even, even, even, even, column + 4, 1);
  }

  // Transforms the rows of the columns of four channels, which are two words.
  void across(uint32_t* to) const {
    const int32_t place = channels_ / 2 * kTiles;  // words
    const uint32_t* from = columns_;
    for (int32_t tile = 0; tile < kTiles; ++tile, from += 16, ++to) {
      for (int32_t row = 0; row < 4; ++row) {
        uint32_t* const at = to + 4 * row * place;
        transform(from[row], from[8 + row], from[16 + row], from[24 + row], at, place);
        transform(from[4 + row], from[12 + row], from[20 + row], from[28 + row], at + kTiles,
                  place);
      }
    }
  }

  // The outputs of four tiles, as far as there are, with every filter.
  void multiply(int32_t x, int32_t y, int8_t* out) {
    const int32_t columns = window_.w.output - x;
    const int32_t below = y + 1 < window_.h.output ? window_.w.output * filters_ : 0;
    const int32_t pairs = channels_ / 2;
    for (int32_t filter = 0; filter < filters_; filter += kAtOnce) {
      const int32_t count = filters_ - filter < kAtOnce ? filters_ - filter : kAtOnce;
      for (int32_t place = 0; place < kPlaces; ++place) {
        rt_dsp_winograd_products(reinterpret_cast<int32_t*>(inputs_) + place * pairs * kTiles,
                                 weights_ + (place * filters_ + filter) * pairs,
                                 sums_ + place * place_sums_, count / 2, pairs);
      }
      for (int32_t i = 0; i < count; ++i)
        finish(filter + i, sums_ + i * kTiles, columns, below, out);
    }
  }

  // A^T and A, and requantization, of four tiles of a filter.
  void finish(int32_t filter, const int32_t* sums, int32_t columns, int32_t below,
              int8_t* out) const {
    const uint32_t bias = static_cast<uint32_t>(bias_[filter]);
    const int32_t multiplier = multipliers_[filter];
    const int32_t inverted_shift = ~shifts_[filter];
    out += filter;
    for (int32_t tile = 0; tile < kTiles && columns > 0; ++tile, columns -= 2, ++sums) {
      uint32_t upper[4];
      uint32_t lower[4];
      for (int32_t i = 0; i < 4; ++i) {
        const auto at = [&](int32_t row) {
          return static_cast<uint32_t>(sums[(4 * row + i) * place_sums_]);
        };
        upper[i] = at(0) + at(1) + at(2);
        lower[i] = at(1) - at(2) - at(3);
      }
      const int32_t right = columns > 1 ? filters_ : 0;
      // What lies behind the edges is written first, where its neighbour is written next.
      out[below + right] =
          scaled(lower[1] - lower[2] - lower[3] + bias, multiplier, inverted_shift);
      out[below] = scaled(lower[0] + lower[1] + lower[2] + bias, multiplier, inverted_shift);
      out[right] = scaled(upper[1] - upper[2] - upper[3] + bias, multiplier, inverted_shift);
      out[0] = scaled(upper[0] + upper[1] + upper[2] + bias, multiplier, inverted_shift);
      out += 2 * filters_;
    }
  }

  int8_t scaled(uint32_t fourfold, int32_t multiplier, int32_t inverted_shift) const {
    return static_cast<int8_t>(requantize_doubled(static_cast<int32_t>(fourfold) >> 1, multiplier,
                                                  inverted_shift, rounding_));
  }

  const Tensor& input_;
  Tensor& out_;
  Window window_;
  int32_t channels_, filters_, row_bytes_;
  const int32_t* weights_;
  const int32_t* bias_;
  const int32_t* multipliers_;
  const int32_t* shifts_;
  int32_t rounding_;
  uint32_t padding_;
  uint32_t* inputs_;
  int32_t* sums_;
  int32_t place_sums_;  // from place to place
  uint32_t* columns_;
  const int8_t* zeros_;
};

uint32_t scratch_bytes(const Args& args) {
  return WinogradScratch(args.tensor(A::kInput).size(1), args.tensor(kAt.out).size(1)).bytes();
}

bool reads_as_transformed(const Args& args) {
  const Tensor& weight = args.tensor(A::kWeight);
  const Tensor* bias = args.optional_tensor(A::kBias);
  const int32_t channels = args.tensor(A::kInput).size(1);
  return weight.is_constant() &&
         reinterpret_cast<uintptr_t>(weight.data()) % sizeof(int32_t) == 0 && bias != nullptr &&
         bias->is_constant() && channels % 4 == 0 && weight.size(0) % 2 == 0 &&
         weight.size(1) == 4 && weight.size(2) == 4 && weight.size(3) == 2 * channels;
}

// No other kernel reads these weights: what is not as the packer writes it is refused.
Error prepare(Args& args, Needs& needs) {
  RT_TRY(args.match("ttnllliittiito="));
  for (const uint32_t i : {A::kInput, A::kWeight, kAt.out}) RT_TRY(expect_rank(args, i, 4));
  RT_TRY(check_convolution(args, kAt, kKernel, kKernel, args.tensor(A::kWeight).size(0), needs));
  if (!reads_as_transformed(args)) return args.refuse(A::kWeight, Error::kArgumentValue);
  const auto [h, w] = convolution_window(args, args.tensor(kAt.out), kKernel, kKernel);
  if (h.stride != 1 || w.stride != 1) return args.refuse(A::kStride, Error::kArgumentValue);
  if (h.dilation != 1 || w.dilation != 1) return args.refuse(A::kDilation, Error::kArgumentValue);
  const Tensor& shifts = args.tensor(kAt.shifts);
  for (uint32_t i = 0; i < shifts.numel(); ++i) {
    if (!scale_fits(shifts.as<int32_t>()[i])) {
      return args.refuse(kAt.shifts, Error::kArgumentValue);
    }
  }
  need_scratch(args, kScratch, scratch_bytes(args), needs);
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  Lines(args, take_scratch(args, kScratch, scratch_bytes(args), temporary)).all();
  const Tensor& out = args.tensor(kAt.out);
  clamp_bytes(args.tensor(kAt.out).as<int8_t>(), out.numel(), args.integer(kAt.activation_min),
              args.integer(kAt.activation_max));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("cortex_m::quantized_conv2d.winograd1", prepare, run);

}  // namespace rt::kernels::dsp
