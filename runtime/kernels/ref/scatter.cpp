// aten::scatter: self with out[.., index[.., i, ..], ..] = src[.., i, ..] along a dimension, or one
// number there; of equal indices the last wins. Any type, a number of the known ones.

#include "runtime/kernels/scatter.hpp"

#include <cstring>

#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

using namespace scattering;

Error prepare_source(Args& args, Needs&) {
  RT_TRY(args.match("titto="));
  return check(args, true);
}

Error run_source(const Args& args, std::span<std::byte>) {
  const Tensor& source = args.tensor(kSource);
  Tensor& out = args.tensor(kOut);
  const uint32_t bytes = element_bytes(out.type());
  return each(args, [&](int32_t to, int32_t from) {
    std::memcpy(out.data() + static_cast<uint32_t>(to) * bytes,
                source.data() + static_cast<uint32_t>(from) * bytes, bytes);
  });
}

Error prepare_number(Args& args, Needs&) {
  RT_TRY(args.match("titso="));
  RT_TRY(expect_known(args, kOut));
  RT_TRY(expect_number_of(args, kSource, args.tensor(kOut).type()));
  return check(args, false);
}

Error run_number(const Args& args, std::span<std::byte>) {
  Tensor& out = args.tensor(kOut);
  Error error = Error::kOk;
  for_type(out.type(), [&]<typename T>(T) {
    T number = number_as<T>(args, kSource);
    if (out.type() == ScalarType::kBool) number = args.number(kSource) != 0.0 ? T{1} : T{};
    error = each(args, [&](int32_t to, int32_t) { out.as<T>()[to] = number; });
  });
  return error;
}

}  // namespace

RT_KERNEL("aten::scatter.src_out", prepare_source, run_source);
RT_KERNEL("aten::scatter.value_out", prepare_number, run_number);

}  // namespace rt::kernels
