// aten::scatter_add: self with src[.., i, ..] added to out[.., index[.., i, ..], ..] along a
// dimension. float32, int32, int64.

#include "runtime/kernels/elementwise.hpp"
#include "runtime/kernels/scatter.hpp"

namespace rt::kernels {
namespace {

using namespace scattering;

Error prepare(Args& args, Needs&) {
  RT_TRY(args.match("titto="));
  RT_TRY(expect_number(args, kOut));
  return check(args, true);
}

Error run(const Args& args, std::span<std::byte>) {
  Tensor& out = args.tensor(kOut);
  Error error = Error::kOk;
  for_number_type(out.type(), [&]<typename T>(T) {
    const T* source = args.tensor(kSource).as<T>();
    error = each(args, [&](int32_t to, int32_t from) {
      out.as<T>()[to] = wrapped_sum(out.as<T>()[to], source[from]);
    });
  });
  return error;
}

}  // namespace

RT_KERNEL("aten::scatter_add.out", prepare, run);

}  // namespace rt::kernels
