#include "runtime/kernels/reduce.hpp"

namespace rt::kernels {
namespace {

// @return false if `dim` is none of the tensor's, or was given before.
bool add_dim(int32_t dim, uint32_t rank, uint32_t &dims) {
  // A tensor without dimensions can be reduced along 0 and -1 all the same.
  if (rank == 0) return dim == 0 || dim == -1;
  const uint32_t wrapped = wrap_dim(dim, rank);
  if (wrapped >= rank || (dims >> wrapped & 1U) != 0) return false;
  dims |= 1U << wrapped;
  return true;
}

bool collect(const Args &args, uint32_t input, uint32_t i, uint32_t &dims) {
  const uint32_t rank = args.tensor(input).rank();
  dims = 0;
  if (args.is_integer(i)) return add_dim(args.integer(i), rank, dims);
  if (args.is_none(i) || args.list(i).count() == 0) {
    dims = (1U << rank) - 1;
    return true;
  }
  const IntList list = args.list(i);
  for (uint32_t k = 0; k < list.count(); ++k) {
    if (!add_dim(list[k], rank, dims)) return false;
  }
  return true;
}

}  // namespace

Error read_reduction(Args &args, uint32_t input, uint32_t dims, bool keep, Reduction &out) {
  out.keep = keep;
  return collect(args, input, dims, out.dims) ? Error::kOk
                                              : args.refuse(dims, Error::kArgumentValue);
}

Reduction get_reduction(const Args &args, uint32_t input, uint32_t dims, bool keep) {
  Reduction reduction = {0, keep};
  collect(args, input, dims, reduction.dims);
  return reduction;
}

Error check_reduced_shape(Args &args, uint32_t input, const Reduction &reduction, uint32_t out) {
  const Tensor &from = args.tensor(input);
  const Tensor &to = args.tensor(out);
  uint32_t out_dim = 0;
  for (uint32_t dim = 0; dim < from.rank(); ++dim) {
    const bool reduced = (reduction.dims >> dim & 1U) != 0;
    if (reduced && !reduction.keep) continue;
    const int32_t size = reduced ? 1 : from.size(dim);
    if (out_dim >= to.rank() || to.size(out_dim) != size) {
      return args.refuse(out, Error::kArgumentShape);
    }
    ++out_dim;
  }
  return out_dim == to.rank() ? Error::kOk : args.refuse(out, Error::kArgumentShape);
}

void reduce(const Tensor &input, const Reduction &reduction, Tensor &out, bool ordered,
            ReduceFn function, const void *parameters) {
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  const auto in_bytes = static_cast<int32_t>(element_bytes(input.type()));
  const auto out_bytes = static_cast<int32_t>(element_bytes(out.type()));
  uint32_t out_dim_of[kMaxRank] = {};
  uint32_t out_dim = 0;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    out_dim_of[dim] = out_dim;
    if ((reduction.dims >> dim & 1U) == 0 || reduction.keep) ++out_dim;
  }
  // The kept dimensions around, the reduced ones inside.
  Walk<2> kept;
  Walk<1> inside;
  uint32_t count = 1;
  for (uint32_t i = 0; i < input.rank(); ++i) {
    const uint32_t dim = ordered ? i : input.dim_order()[i];
    if ((reduction.dims >> dim & 1U) != 0) {
      inside.add(input.size(dim), {in_strides.of[dim] * in_bytes});
      count *= static_cast<uint32_t>(input.size(dim));
    } else {
      kept.add(input.size(dim),
               {in_strides.of[dim] * in_bytes, out_strides.of[out_dim_of[dim]] * out_bytes});
    }
  }
  kept.rows([&](int32_t length, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    for (int32_t i = 0; i < length; ++i) {
      const Elements elements(input.data() + offset[0] + i * stride[0], inside);
      function(elements, count, out.data() + offset[1] + i * stride[1], parameters);
    }
  });
}

}  // namespace rt::kernels
