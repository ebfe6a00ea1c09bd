// aten::native_dropout in inference: the input as it is, and a mask that keeps everything. Any
// type.

#include <cstring>

#include "runtime/kernels/copy.hpp"
#include "runtime/kernels/elementwise.hpp"

namespace rt::kernels {
namespace {

enum Argument : uint32_t { kInput, kProbability, kTraining, kOut, kMask };

Error prepare(Args& args, Needs&) {
  // The last argument lists the outputs; training left out (None) is training.
  RT_TRY(args.match("tsboo_"));
  if (args.boolean(kTraining)) return args.refuse(kTraining, Error::kArgumentValue);
  RT_TRY(expect_type(args, {kOut}, args.tensor(kInput).type()));
  RT_TRY(expect_type(args, {kMask}, ScalarType::kBool));
  RT_TRY(expect_same_shape(args, kInput, kOut));
  return expect_same_shape(args, kInput, kMask);
}

Error run(const Args& args, std::span<std::byte>) {
  copy_layout(args.tensor(kInput), args.tensor(kOut));
  std::memset(args.tensor(kMask).data(), 1, args.tensor(kMask).nbytes());
  return Error::kOk;
}

}  // namespace

RT_KERNEL("aten::native_dropout.out", prepare, run);

}  // namespace rt::kernels
