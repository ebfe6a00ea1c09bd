// aten::grid_sampler_2d, float32: images sampled at the points of a grid, bilinear or nearest;
// outside zeros, the border, or reflected. Bicubic is refused.

#include <cmath>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kGrid, kMode, kPadding, kAligned, kOut };
enum Mode : int32_t { kBilinear, kNearest };
enum Padding : int32_t { kZeros, kBorder, kReflection };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("ttiibo="));
  RT_TRY(expect_type(args, {kInput, kGrid, kOut}, ScalarType::kFloat));
  for (const uint32_t i : {kInput, kGrid, kOut}) RT_TRY(expect_rank(args, i, 4));
  RT_TRY(expect_range(args, kMode, kBilinear, kNearest));
  RT_TRY(expect_range(args, kPadding, kZeros, kReflection));
  const Tensor& input = args.tensor(kInput);
  const Tensor& grid = args.tensor(kGrid);
  const Tensor& out = args.tensor(kOut);
  if (input.numel() == 0) return args.refuse(kInput, Error::kArgumentShape);
  if (grid.size(0) != input.size(0) || grid.size(3) != 2) {
    return args.refuse(kGrid, Error::kArgumentShape);
  }
  const bool fits = out.size(0) == input.size(0) && out.size(1) == input.size(1) &&
                    out.size(2) == grid.size(1) && out.size(3) == grid.size(2);
  return fits ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

// Mirrors at both ends, which are given doubled so that half pixels are whole numbers.
float reflected(float x, int32_t twice_low, int32_t twice_high) {
  if (twice_low == twice_high) return 0.0F;
  const float low = static_cast<float>(twice_low) / 2.0F;
  const float span = static_cast<float>(twice_high - twice_low) / 2.0F;
  x = std::fabs(x - low);
  const float extra = std::fmod(x, span);
  const float flips = std::floor(x / span);
  return std::fmod(flips, 2.0F) == 0.0F ? extra + low : span - extra + low;
}

// @return where a grid's number in [-1, 1] lies among `size` pixels.
float pixel(float x, int32_t size, int32_t padding, bool aligned) {
  const auto length = static_cast<float>(size);
  x = aligned ? (x + 1.0F) / 2.0F * (length - 1.0F) : ((x + 1.0F) * length - 1.0F) / 2.0F;
  if (padding == kReflection) {
    x = aligned ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
  }
  if (padding != kZeros) x = std::fmin(length - 1.0F, std::fmax(x, 0.0F));
  // Too far outside for an integer, or no number: outside.
  return std::fabs(x) < 2147483520.0F ? x : -100.0F;
}

// One channel of one image.
struct Plane {
  const float* data;
  int32_t height, width;
  int32_t row, column;  // strides

  float at(int32_t y, int32_t x) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0.0F;
    return data[y * row + x * column];
  }
};

float bilinear(const Plane& plane, float x, float y) {
  const auto left = static_cast<int32_t>(std::floor(x));
  const auto top = static_cast<int32_t>(std::floor(y));
  const float right_part = x - static_cast<float>(left);
  const float low_part = y - static_cast<float>(top);
  return plane.at(top, left) * ((1.0F - right_part) * (1.0F - low_part)) +
         plane.at(top, left + 1) * (right_part * (1.0F - low_part)) +
         plane.at(top + 1, left) * ((1.0F - right_part) * low_part) +
         plane.at(top + 1, left + 1) * (right_part * low_part);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  const Tensor& grid = args.tensor(kGrid);
  Tensor& out = args.tensor(kOut);
  const Strides in = input.strides();
  const Strides at = grid.strides();
  const Strides to = out.strides();
  const int32_t padding = args.integer(kPadding);
  const bool aligned = args.boolean(kAligned);
  for (int32_t n = 0; n < out.size(0); ++n) {
    for (int32_t h = 0; h < out.size(2); ++h) {
      for (int32_t w = 0; w < out.size(3); ++w) {
        const float* point = grid.as<float>() + n * at.of[0] + h * at.of[1] + w * at.of[2];
        const float x = pixel(point[0], input.size(3), padding, aligned);
        const float y = pixel(point[at.of[3]], input.size(2), padding, aligned);
        for (int32_t c = 0; c < out.size(1); ++c) {
          const Plane plane = {input.as<float>() + n * in.of[0] + c * in.of[1], input.size(2),
                               input.size(3), in.of[2], in.of[3]};
          const float value = args.integer(kMode) == kBilinear
                                  ? bilinear(plane, x, y)
                                  : plane.at(static_cast<int32_t>(std::nearbyint(y)),
                                             static_cast<int32_t>(std::nearbyint(x)));
          out.as<float>()[n * to.of[0] + c * to.of[1] + h * to.of[2] + w * to.of[3]] = value;
        }
      }
    }
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::grid_sampler_2d.out", prepare, run);

}  // namespace rt::kernels
