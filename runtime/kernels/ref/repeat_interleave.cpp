// aten::repeat_interleave.Tensor_out: each index as often as its repeats say; how many there are
// was known to the exporter. int32, int64.

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kRepeats, kSize, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tjo="));
  const Tensor& repeats = args.tensor(kRepeats);
  const bool fits = repeats.type() == ScalarType::kInt || repeats.type() == ScalarType::kLong;
  if (!fits) return args.refuse(kRepeats, Error::kArgumentScalarType);
  RT_TRY(expect_type(args, {kOut}, repeats.type()));
  RT_TRY(expect_rank(args, kRepeats, 1));
  return expect_rank(args, kOut, 1);
}

// @return index-out-of-range if the repeats do not add up to the output's size, or one is negative.
Error run(const Args& args, std::span<std::byte>) {
  const Tensor& repeats = args.tensor(kRepeats);
  Tensor& out = args.tensor(kOut);
  Error error = Error::kOk;
  const auto repeat = [&]<typename T>(T) {
    uint32_t to = 0;
    for (uint32_t i = 0; i < repeats.numel(); ++i) {
      const T count = repeats.as<T>()[i];
      const bool fits = count >= 0 && static_cast<uint64_t>(count) <= out.numel() - to;
      if (!fits) {
        error = Error::kIndexOutOfRange;
        return;
      }
      for (T k = 0; k < count; ++k) out.as<T>()[to++] = static_cast<T>(i);
    }
    if (to != out.numel()) error = Error::kIndexOutOfRange;
  };
  if (out.type() == ScalarType::kInt) {
    repeat(int32_t{});
  } else {
    repeat(int64_t{});
  }
  return error;
}

}  // namespace

RT_KERNEL("aten::repeat_interleave.Tensor_out", prepare, run);

}  // namespace rt::kernels
