// cortex_m::softmax along one dimension, int8 to int8 of scale 1/256 and zero point -128.
//
// Follows what runs on devices, CMSIS-NN's integers. ExecuTorch's Python reference computes in
// float and differs from it by one step now and then.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/int8_softmax.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

using namespace softmax;

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tiiiiiio="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kChar));
  const Tensor& input = args.tensor(kInput);
  const uint32_t along = softmax_dim(args);
  if (along >= input.rank()) return args.refuse(kDim, Error::kArgumentValue);
  if (input.size(along) > kMaxCount) return args.refuse(kInput, Error::kArgumentShape);
  if (!same_shape(input, args.tensor(kOut))) return args.refuse(kOut, Error::kArgumentShape);
  RT_TRY(expect_range(args, kOutputZeroPoint, -128, -128));
  RT_TRY(expect_range(args, kMultiplier, 0, kQ31Max));
  RT_TRY(expect_range(args, kShift, 0, 31));
  // The largest distance that is looked at, and it fits 32 bits when shifted.
  const bool fits =
      args.integer(kDiffMin) <= 0 &&
      (args.integer(kDiffMin) <= -255 ? args.integer(kShift) <= 23
                                      : (int64_t{args.integer(kDiffMin)} << args.integer(kShift)) >=
                                            std::numeric_limits<int32_t>::min());
  return fits ? Error::kOk : args.refuse(kDiffMin, Error::kArgumentValue);
}

Error run(const Args& args, std::span<std::byte>) {
  const Scale scale = scale_of(args);
  lines(args, [&](int32_t difference) { return scale.exponential_of(difference); });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(softmax, "cortex_m::softmax.out", prepare, run);

}  // namespace rt::kernels
