// aten::mean over some dimensions, float32.

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"
#include "runtime/kernels/walk.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDims, kKeepDim, kType, kOut };

// @return a bit for each dimension to reduce; all of them for an empty list or None. 0 with an
//     `error` for a list that is no set of dimensions.
uint32_t reduced_dims(const Args& args, Error& error) {
  const uint32_t rank = args.tensor(kInput).rank();
  const uint32_t all = (1U << rank) - 1;
  error = Error::kOk;
  if (args.is_none(kDims) || args.list(kDims).count() == 0) return all;
  const IntList dims = args.list(kDims);
  uint32_t reduced = 0;
  for (uint32_t i = 0; i < dims.count(); ++i) {
    const int32_t signed_dim = dims[i];
    const auto dim = static_cast<uint32_t>(signed_dim < 0 ? signed_dim + static_cast<int32_t>(rank)
                                                          : signed_dim);
    if (dim >= rank || (reduced >> dim & 1U) != 0) {
      error = Error::kArgumentValue;
      return 0;
    }
    reduced |= 1U << dim;
  }
  return reduced;
}

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tmbjo="));
  RT_TRY(expect_type(args, {kInput, kOut}, ScalarType::kFloat));
  if (!args.is_none(kType) && args.integer(kType) != static_cast<int32_t>(ScalarType::kFloat)) {
    return args.refuse(kType, Error::kArgumentScalarType);
  }
  const Tensor& input = args.tensor(kInput);
  const Tensor& out = args.tensor(kOut);
  Error error = Error::kOk;
  const uint32_t reduced = reduced_dims(args, error);
  if (error != Error::kOk) return args.refuse(kDims, error);
  uint32_t out_dim = 0;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    const bool reduce = (reduced >> dim & 1U) != 0;
    if (reduce && !args.boolean(kKeepDim)) continue;
    const int32_t size = reduce ? 1 : input.size(dim);
    if (out_dim >= out.rank() || out.size(out_dim) != size) {
      return args.refuse(kOut, Error::kArgumentShape);
    }
    ++out_dim;
  }
  return out_dim == out.rank() ? Error::kOk : args.refuse(kOut, Error::kArgumentShape);
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  Error error = Error::kOk;
  const uint32_t reduced = reduced_dims(args, error);
  const Strides in_strides = input.strides();
  const Strides out_strides = out.strides();
  uint32_t out_dim_of[kMaxRank] = {};
  uint32_t out_dim = 0;
  for (uint32_t dim = 0; dim < input.rank(); ++dim) {
    const bool reduce = (reduced >> dim & 1U) != 0;
    out_dim_of[dim] = out_dim;
    if (!reduce || args.boolean(kKeepDim)) ++out_dim;
  }
  // The kept dimensions around, the reduced ones inside, both as the input lies in memory.
  Walk<2> kept;
  Walk<1> inside;
  int32_t count = 1;
  for (const uint8_t dim : input.dim_order()) {
    if ((reduced >> dim & 1U) != 0) {
      inside.add(input.size(dim), {in_strides.of[dim]});
      count *= input.size(dim);
    } else {
      kept.add(input.size(dim), {in_strides.of[dim], out_strides.of[out_dim_of[dim]]});
    }
  }
  kept.rows([&](int32_t length, const int32_t(&offset)[2], const int32_t(&stride)[2]) {
    for (int32_t i = 0; i < length; ++i) {
      const float* from = input.as<float>() + offset[0] + i * stride[0];
      float sum = 0.0F;
      inside.rows([&](int32_t n, const int32_t(&at)[1], const int32_t(&step)[1]) {
        for (int32_t k = 0; k < n; ++k) sum += from[at[0] + k * step[0]];
      });
      out.as<float>()[offset[1] + i * stride[1]] = sum / static_cast<float>(count);
    }
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::mean.out", prepare, run);

}  // namespace rt::kernels
