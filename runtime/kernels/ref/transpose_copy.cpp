// aten::transpose_copy and t_copy: two dimensions exchanged. Any type.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/copy.hpp"

namespace rt::kernels {
namespace {

struct Exchange {
  uint32_t a, b;
  uint32_t operator()(uint32_t dim) const { return dim == a ? b : (dim == b ? a : dim); }
};

uint32_t wrapped(int32_t dim, uint32_t rank) {
  return static_cast<uint32_t>(dim < 0 ? dim + static_cast<int32_t>(rank) : dim);
}

Error check(Args &args, const Exchange &exchange, uint32_t out_index) {
  const Tensor &input = args.tensor(0);
  const Tensor &out = args.tensor(out_index);
  RT_TRY(expect_type(args, {out_index}, input.type()));
  bool fits = out.rank() == input.rank();
  for (uint32_t dim = 0; fits && dim < out.rank(); ++dim) {
    fits = out.size(dim) == input.size(exchange(dim));
  }
  return fits ? Error::kOk : args.refuse(out_index, Error::kArgumentShape);
}

void transpose(const Tensor &input, const Exchange &exchange, Tensor &out) {
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  Walk<2> walk;
  for (const uint8_t dim : out.dim_order()) {
    walk.add(out.size(dim), {in_strides.of[exchange(dim)], out_strides.of[dim]});
  }
  copy_elements(walk, input, 0, out, 0);
}

Exchange exchange_of(const Args &args) {
  const uint32_t rank = args.tensor(0).rank();
  return {wrapped(args.integer(1), rank), wrapped(args.integer(2), rank)};
}

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tiio="));
  const Exchange exchange = exchange_of(args);
  const uint32_t rank = args.tensor(0).rank();
  if (exchange.a >= rank) return args.refuse(1, Error::kArgumentValue);
  if (exchange.b >= rank) return args.refuse(2, Error::kArgumentValue);
  return check(args, exchange, 3);
}

Error run(const Args &args, std::span<std::byte>) {
  transpose(args.tensor(0), exchange_of(args), args.tensor(3));
  return Error::kOk;
}

Exchange matrix_exchange(const Tensor &input) { return {0, input.rank() == 2 ? 1U : 0U}; }

Error prepare_t(Args &args, Needs &) {
  RT_TRY(args.match("to="));
  if (args.tensor(0).rank() > 2) return args.refuse(0, Error::kArgumentShape);
  return check(args, matrix_exchange(args.tensor(0)), 1);
}

Error run_t(const Args &args, std::span<std::byte>) {
  transpose(args.tensor(0), matrix_exchange(args.tensor(0)), args.tensor(1));
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::transpose_copy.int_out", prepare, run);
RT_KERNEL("aten::t_copy.out", prepare_t, run_t);

}  // namespace rt::kernels
