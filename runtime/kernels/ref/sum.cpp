// aten::sum over some dimensions or all: float32 to float32; int32, int64 and
// bool to int64.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDims, kKeepDim, kType, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tmbjo="));
  const ScalarType type = args.tensor(kInput).type();
  RT_TRY(expect_known(args, kInput));
  const bool integers = type != ScalarType::kFloat;
  RT_TRY(expect_type(args, {kOut}, integers ? ScalarType::kLong : ScalarType::kFloat));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, kInput, kDims, args.boolean(kKeepDim), reduction));
  return check_reduced_shape(args, kInput, reduction, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  const Reduction reduction = get_reduction(args, kInput, kDims, args.boolean(kKeepDim));
  for_type(args.tensor(kInput).type(), [&]<typename T>(T) {
    using Sum = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
    reduce(
        args.tensor(kInput), reduction, args.tensor(kOut), false,
        [](const Elements &elements, uint32_t, std::byte *out, const void *) {
          Sum sum = {};
          elements.each<T>([&](T x) { sum = wrapped_sum(sum, static_cast<Sum>(x)); });
          *reinterpret_cast<Sum *>(out) = sum;
        },
        nullptr);
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::sum.IntList_out", prepare, run);

}  // namespace rt::kernels
