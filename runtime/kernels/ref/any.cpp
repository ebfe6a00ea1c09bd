// aten::any along a dimension, some, or all; the result is bool.

#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

template <typename T>
void any(const Elements &elements, uint32_t, std::byte *out, const void *) {
  bool found = false;
  elements.each<T>([&](T x) { found = found || x != T{}; });
  *reinterpret_cast<bool *>(out) = found;
}

void reduce_any(const Tensor &input, const Reduction &reduction, Tensor &out) {
  for_type(input.type(),
           [&]<typename T>(T) { reduce(input, reduction, out, false, any<T>, nullptr); });
}

Error check(Args &args, uint32_t out) {
  RT_TRY(expect_known(args, 0));
  return expect_type(args, {out}, ScalarType::kBool);
}

Error prepare(Args &args, Needs &) {
  // One dimension, or a list of them.
  RT_TRY(args.match(args.count() > 1 && args.is_integer(1) ? "tibo=" : "tmbo="));
  RT_TRY(check(args, 3));
  Reduction reduction = {};
  RT_TRY(read_reduction(args, 0, 1, args.boolean(2), reduction));
  return check_reduced_shape(args, 0, reduction, 3);
}

Error run(const Args &args, std::span<std::byte>) {
  reduce_any(args.tensor(0), get_reduction(args, 0, 1, args.boolean(2)), args.tensor(3));
  return Error::kOk;
}

Error prepare_all(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  RT_TRY(check(args, 1));
  return args.tensor(1).numel() == 1 ? Error::kOk : args.refuse(1, Error::kArgumentShape);
}

Error run_all(const Args &args, std::span<std::byte>) {
  const Tensor &input = args.tensor(0);
  reduce_any(input, {(1U << input.rank()) - 1, false}, args.tensor(1));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::any.out", prepare, run);
RT_KERNEL("aten::any.dims_out", prepare, run);
RT_KERNEL("aten::any.all_out", prepare_all, run_all);

}  // namespace rt::kernels
