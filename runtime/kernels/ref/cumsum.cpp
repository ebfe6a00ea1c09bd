// aten::cumsum along one dimension. float32, int32, int64.

#include "runtime/kernels/lines.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kDim, kType, kOut };

Error prepare(Args &args, Needs &) {
  RT_TRY(args.match("tijo="));
  RT_TRY(expect_number(args, kInput));
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  RT_TRY(expect_dim(args, kInput, kDim));
  return expect_same_shape(args, kInput, kOut);
}

Error run(const Args &args, std::span<std::byte>) {
  const uint32_t along = get_dim(args, kInput, kDim);
  const int32_t count = line_length(args.tensor(kInput), along);
  for_number_type(args.tensor(kInput).type(), [&]<typename T>(T) {
    for_each_line<T>(args.tensor(kInput), args.tensor(kOut), along,
                     [=](const T *in, int32_t in_step, T *out, int32_t out_step) {
                       T sum = {};
                       for (int32_t i = 0; i < count; ++i) {
                         sum = wrapped_sum(sum, in[i * in_step]);
                         out[i * out_step] = sum;
                       }
                     });
  });
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::cumsum.out", prepare, run);

}  // namespace rt::kernels
