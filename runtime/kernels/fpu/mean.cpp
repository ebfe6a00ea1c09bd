// aten::mean.out over height and width of channels-last images.

#include "runtime/kernels/fpu/float_average.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels::fpu {
namespace {

enum Argument : uint32_t { kInput, kDims, kKeepDim, kType, kOut };

bool suits(const Args& args) {
  constexpr uint32_t kHeightAndWidth = 0b1100;
  const Tensor& input = args.tensor(kInput);
  return input.is_channels_last() && input.size(1) >= kLaneChannels && input.numel() != 0 &&
         get_reduction(args, kInput, kDims, args.boolean(kKeepDim)).dims == kHeightAndWidth &&
         args.tensor(kOut).is_contiguous();
}

Error prepare(Args& args, Needs& needs) {
  RT_TRY(rt_checks_mean(args, needs));
  if (suits(args)) needs.temporary_bytes = ones_bytes(args.tensor(kInput).size(1));
  return Error::kOk;
}

Error run(const Args& args, std::span<std::byte> temporary) {
  if (!suits(args)) return rt_fallback_mean(args, temporary);
  const Tensor& input = args.tensor(kInput);
  const int32_t channels = input.size(1);
  const int32_t pixels = input.size(2) * input.size(3);
  float* const ones = reinterpret_cast<float*>(temporary.data());
  fill_ones(ones, channels);
  Area area = {input.as<float>(), 1, pixels, pixels * channels};
  float* out = args.tensor(kOut).as<float>();
  for (int32_t n = 0; n < input.size(0); ++n) {
    average(area, channels, static_cast<float>(pixels), ones, out);
    area.x += pixels * channels;
    out += channels;
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::mean.out", prepare, run);

}  // namespace rt::kernels::fpu
