// The explicit-layout variants: kernels of images whose dimensions are named as they lie in memory.
#pragma once

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/checks.hpp"

namespace rt::kernels {

// While it lives, an NHWC tensor is the NCHW one that lies channels-last in the same memory.
class SeenAsNchw {
 public:
  explicit SeenAsNchw(Tensor& tensor)
      : tensor_(tensor),
        original_(tensor),
        sizes_{tensor.size(0), tensor.size(3), tensor.size(1), tensor.size(2)} {
    static constexpr uint8_t kChannelsLast[] = {0, 2, 3, 1};
    tensor = Tensor(tensor.type(), sizes_, kChannelsLast, tensor.numel(), tensor.data(),
                    tensor.is_constant());
  }
  ~SeenAsNchw() { tensor_ = original_; }
  SeenAsNchw(const SeenAsNchw&) = delete;
  SeenAsNchw& operator=(const SeenAsNchw&) = delete;

 private:
  Tensor& tensor_;
  Tensor original_;
  int32_t sizes_[4];
};

// `prepare` and `run` of the variant: images are the first argument and the one before the last.
template <PrepareFn kPrepare>
Error prepare_nhwc(Args& args, Needs& needs) {
  if (args.count() < 3) return Error::kArgumentCount;
  const uint32_t out = args.count() - 2;
  for (const uint32_t i : {uint32_t{0}, out}) {
    if (!args.is_tensor(i)) return args.refuse(i, Error::kArgumentKind);
    RT_TRY(expect_rank(args, i, 4));
    RT_TRY(expect_contiguous(args, {i}));
  }
  const SeenAsNchw input(args.tensor(0));
  const SeenAsNchw output(args.tensor(out));
  return kPrepare(args, needs);
}

template <RunFn kRun>
Error run_nhwc(const Args& args, std::span<std::byte> temporary) {
  const SeenAsNchw input(args.tensor(0));
  const SeenAsNchw output(args.tensor(args.count() - 2));
  return kRun(args, temporary);
}

}  // namespace rt::kernels

// Registers the variant of a kernel, beside it; a reference kernel that is replaced (reference.hpp)
// leaves that to the one in its place.
#ifdef RT_REPLACED
#define RT_NHWC_KERNEL(name, prepare, run)
#else
#define RT_NHWC_KERNEL(name, prepare, run) \
  RT_KERNEL(name, ::rt::kernels::prepare_nhwc<prepare>, ::rt::kernels::run_nhwc<run>)
#endif
