// aten::prod along a dimension or of all, float32.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

void product(const Elements &elements, uint32_t, std::byte *out, const void *) {
  float result = 1.0F;
  elements.each<float>([&](float x) { result *= x; });
  *reinterpret_cast<float *>(out) = result;
}

Error prepare_dim(Args &args, Needs &) {
  RT_TRY(args.match("tibjo="));
  RT_TRY(expect_type(args, {0, 4}, ScalarType::kFloat));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(2), reduction));
  return check_reduced_shape(args, 0, reduction, 4);
}

Error run_dim(const Args &args, std::span<std::byte>) {
  reduce(args.tensor(0), get_reduction(args, 0, 1, args.boolean(2)), args.tensor(4), false, product,
         nullptr);
  return Error::kOk;
}

Error prepare_all(Args &args, Needs &) {
  RT_TRY(args.match("tjo="));
  RT_TRY(expect_type(args, {0, 2}, ScalarType::kFloat));
  return args.tensor(2).numel() == 1 ? Error::kOk : args.refuse(2, Error::kArgumentShape);
}

Error run_all(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(0);
  reduce(input, {(1U << input.rank()) - 1, false}, args.tensor(2), false, product, nullptr);
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::prod.int_out", prepare_dim, run_dim);
RT_KERNEL("aten::prod.out", prepare_all, run_all);

}  // namespace rt::kernels
