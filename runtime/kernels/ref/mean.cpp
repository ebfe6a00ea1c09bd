// aten::mean over some dimensions or all, float32.

#include "runtime/kernels/reduce.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDims, kKeepDim, kType, kOut };

Error expect_float_type(Args &args, uint32_t i) {
  const bool fits = args.is_none(i) || args.integer(i) == static_cast<int32_t>(ScalarType::kFloat);
  return fits ? Error::kOk : args.refuse(i, Error::kArgumentScalarType);
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tmbjo="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  RT_TRY(expect_float_type(args, kType));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, kInput, kDims, args.boolean(kKeepDim), reduction));
  return check_reduced_shape(args, kInput, reduction, kOut);
}

Error prepare_all(Args &args, Needs &) {
  RT_TRY(args.match("tjo="));
  RT_TRY(expect_type(args, {0, 2}, ScalarType::kFloat));
  RT_TRY(expect_float_type(args, 1));
  return args.tensor(2).numel() == 1 ? Error::kOk : args.refuse(2, Error::kArgumentShape);
}

void mean(const Elements &elements, uint32_t count, std::byte *out, const void *) {
  float sum = 0.0F;
  elements.each<float>([&](float x) { sum += x; });
  *reinterpret_cast<float *>(out) = sum / static_cast<float>(count);
}

Error run(const Args &args, std::span<std::byte>) {
  const Reduction reduction = get_reduction(args, kInput, kDims, args.boolean(kKeepDim));
  reduce(args.tensor(kInput), reduction, args.tensor(kOut), false, mean, nullptr);
  return Error::kOk;
}

Error run_all(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(0);
  reduce(input, {(1U << input.rank()) - 1, false}, args.tensor(2), false, mean, nullptr);
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(mean, "aten::mean.out", prepare, run);
RT_KERNEL("aten::mean.dtype_out", prepare_all, run_all);

}  // namespace rt::kernels
