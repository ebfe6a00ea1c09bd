// aten::_log_softmax along one dimension, float32, of any layout.

#include <cmath>

#include "runtime/kernels/lines.hpp"
#include "runtime/kernels/reference.hpp"

namespace rt::kernels {
namespace {

Error run(const Args &args, std::span<std::byte>) {
  const uint32_t along = get_dim(args, 0, 1);
  const int32_t count = line_length(args.tensor(0), along);
  for_each_line<float>(args.tensor(0), args.tensor(3), along,
                       [=](const float *in, int32_t in_step, float *out, int32_t out_step) {
                         float largest = 0.0F;
                         const float sum = exponentials(in, in_step, nullptr, 0, count, largest,
                                                        [](float x) { return std::exp(x); });
                         const float log_sum = std::log(sum);
                         for (int32_t i = 0; i < count; ++i) {
                           out[i * out_step] = in[i * in_step] - largest - log_sum;
                         }
                       });
  return Error::kOk;
}

}  // namespace

RT_REFERENCE_KERNEL(float_log_softmax, "aten::_log_softmax.out", prepare_softmax, run);

}  // namespace rt::kernels
