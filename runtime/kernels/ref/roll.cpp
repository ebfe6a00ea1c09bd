// aten::roll: each index moved on along some dimensions, around the end; without dimensions along
// the elements in order. Any type.

#include <cstring>

#include "runtime/kernels/parts.hpp"
#include "runtime/kernels/reshape.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kShifts, kDims, kOut };

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("tllo="));
  const Tensor& input = args.tensor(kInput);
  RT_TRY(expect_type(args, {kOut}, input.type()));
  const IntList shifts = args.list(kShifts);
  const IntList dims = args.list(kDims);
  if (shifts.count() != (dims.count() == 0 ? 1 : dims.count())) {
    return args.refuse(kShifts, Error::kArgumentValue);
  }
  for (uint32_t i = 0; i < dims.count(); ++i) {
    if (part_dim(dims[i], input.rank()) >= input.rank()) {
      return args.refuse(kDims, Error::kArgumentValue);
    }
  }
  return same_shape(input, args.tensor(kOut)) ? Error::kOk
                                              : args.refuse(kOut, Error::kArgumentShape);
}

// @return the index `shift` places before `index`, around the begin.
int32_t before(int64_t index, int64_t shift, int64_t size) {
  const int64_t rest = (index - shift) % size;
  return static_cast<int32_t>(rest < 0 ? rest + size : rest);
}

int32_t flat_source(const Tensor& input, const Strides& strides, int32_t flat) {
  int32_t offset = 0;
  for (uint32_t dim = input.rank(); dim-- > 0;) {
    offset += flat % input.size(dim) * strides.of[dim];
    flat /= input.size(dim);
  }
  return offset;
}

Error run(const Args& args, std::span<std::byte>) {
  const Tensor& input = args.tensor(kInput);
  Tensor& out = args.tensor(kOut);
  const IntList shifts = args.list(kShifts);
  const IntList dims = args.list(kDims);
  const Strides strides = input.strides();
  const uint32_t bytes = element_bytes(out.type());
  Cursor to(out);
  for (uint32_t i = 0; i < out.numel(); ++i, to.next()) {
    int32_t from = 0;
    if (dims.count() == 0) {
      from = flat_source(input, strides, before(i, shifts[0], input.numel()));
    } else {
      for (uint32_t dim = 0; dim < input.rank(); ++dim) {
        int64_t shift = 0;
        for (uint32_t k = 0; k < dims.count(); ++k) {
          if (part_dim(dims[k], input.rank()) == dim) shift += shifts[k];
        }
        from += before(to.index(dim), shift, input.size(dim)) * strides.of[dim];
      }
    }
    std::memcpy(out.data() + static_cast<uint32_t>(to.offset()) * bytes,
                input.data() + static_cast<uint32_t>(from) * bytes, bytes);
  }
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::roll.out", prepare, run);

}  // namespace rt::kernels
