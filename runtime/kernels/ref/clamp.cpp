// aten::clamp: bounds are numbers or tensors, either may be None. float32, int32, int64; int8 comes
// of a quantized activation that could not be merged into the layer before it.

#include <limits>

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kMin, kMax, kOut };

// NaN stays NaN; with low > high the result is high, as torch's.
template <typename T>
T clamped(T value, T low, T high) {
  const T raised = value < low ? low : value;
  return raised > high ? high : raised;
}

template <typename T>
T bound(const Args &args, uint32_t i, T unbounded) {
  return args.is_none(i) ? unbounded : number_as<T>(args, i);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tuuo="));
  RT_TRY(expect_known(args, kInput));
  const ScalarType type = args.tensor(kInput).type();
  RT_TRY(expect_type(args, {kOut}, type));
  for (const uint32_t i : {kMin, kMax}) {
    if (!args.is_none(i)) RT_TRY(expect_number_of(args, i, type));
  }
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  for_type(args.tensor(kInput).type(), [&]<typename T>(T) {
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T low = bound<T>(args, kMin, lowest);
    const T high = bound<T>(args, kMax, highest);
    map<T, T>(args.tensor(kInput), args.tensor(kOut), [=](T x) { return clamped(x, low, high); });
  });
  return Error::kOk;
}

Error prepare_tensor(Args &args, Needs &) {
  RT_TRY(args.match("tnno="));
  RT_TRY(expect_number(args, kInput));
  RT_TRY(expect_type(args, {kMin, kMax, kOut}, args.tensor(kInput).type()));
  RT_TRY(expect_broadcast(args, {kInput}, kOut));
  for (const uint32_t i : {kMin, kMax}) {
    if (!args.is_none(i)) RT_TRY(expect_broadcast(args, {i}, kOut));
  }
  return Error::kOk;
}

Error run_tensor(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(kInput);
  Tensor &out = args.tensor(kOut);
  const Tensor *low = args.optional_tensor(kMin);
  const Tensor *high = args.optional_tensor(kMax);
  for_number_type(input.type(), [&]<typename T>(T) {
    // A NaN bound gives NaN, as in torch.
    const auto raise = [](T x, T y) { return x < y || y != y ? y : x; };
    const auto lower = [](T x, T y) { return x > y || y != y ? y : x; };
    const Tensor *from = &input;
    if (low != nullptr) {
      map<T, T>(input, *low, out, raise);
      from = &out;
    }
    if (high != nullptr) {
      map<T, T>(*from, *high, out, lower);
      from = &out;
    }
    if (from == &input) map<T, T>(input, out, [](T x) { return x; });
  });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(clamp, "aten::clamp.out", prepare, run);
RT_KERNEL("aten::clamp.Tensor_out", prepare_tensor, run_tensor);

}  // namespace rt::kernels
