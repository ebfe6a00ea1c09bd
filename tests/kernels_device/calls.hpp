// Calls of kernels with arguments made on the device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "runtime/core/kernel.hpp"
#include "tests/kernels_device/memory.hpp"
#include "tests/kernels_device/random.hpp"

namespace device {

using Sizes = std::initializer_list<int32_t>;

// The arguments of one call; `Memory` owns the tensors' data.
class Call {
 public:
  Call(Memory& memory, Placement placement) : memory_(memory), placement_(placement) {}

  void none();
  void integer(int32_t value);
  void boolean(bool value);
  void real(double value);
  void list(std::initializer_list<int32_t> items);
  void text(const char* text);  // up to eight characters
  // A tensor of rank 4 lies channels-last, if not told otherwise; others row-major.
  rt::Tensor& tensor(rt::ScalarType type, Sizes sizes, bool constant, bool channels_last = true);
  // Lays the last tensor out with its last two dimensions swapped.
  void swap_last();
  // The tensor to write, and the same value again.
  void out(rt::ScalarType type, Sizes sizes, bool channels_last = true);
  // The tensor to write, of operators that have several.
  void result(rt::ScalarType type, Sizes sizes, bool channels_last = true);

  // A constant that `exchange` puts in the place of an argument, and takes out again.
  rt::Tensor& other(uint32_t argument, rt::ScalarType type, Sizes sizes);
  void exchange();

  rt::Tensor& out() { return *out_; }
  rt::Args args() const { return {{slots_, kinds_, value_count_}, indices_, argument_count_}; }

 private:
  static constexpr uint32_t kMaxValues = 64, kMaxTensors = 10, kMaxLists = 8, kMaxRank = 4;
  struct Shape {
    int32_t sizes[kMaxRank];
    uint8_t dim_order[kMaxRank];
  };
  struct [[gnu::packed]] List {
    uint32_t count;
    int64_t items[4];
  };

  uint32_t add(rt::ValueKind kind, rt::ValueSlot slot);
  void argument(rt::ValueKind kind, rt::ValueSlot slot);

  Memory& memory_;
  Placement placement_;
  rt::ValueSlot slots_[kMaxValues] = {};
  rt::ValueKind kinds_[kMaxValues] = {};
  int32_t indices_[kMaxValues] = {};
  uint32_t value_count_ = 0, argument_count_ = 0;
  rt::Tensor tensors_[kMaxTensors];
  Shape shapes_[kMaxTensors] = {};
  uint32_t tensor_count_ = 0;
  List lists_[kMaxLists] = {};
  uint32_t list_count_ = 0;
  struct {
    uint32_t length;
    char characters[8];
  } text_ = {};
  double reals_[2] = {};
  uint32_t real_count_ = 0;
  rt::Tensor* out_ = nullptr;
  struct Exchange {
    uint32_t argument;
    int32_t value;
  };
  Exchange exchanges_[2] = {};
  uint32_t exchange_count_ = 0;
};

// How scales and biases are drawn: such as trained models have, or whatever the format allows.
enum class Scales : uint8_t { kUsual, kAny };

struct ConvolutionShape {
  int32_t images, in_channels, out_channels, groups;
  int32_t height, width;
  int32_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
};

// Kernel, stride, padding, dilation and an image that they fit; nothing else.
ConvolutionShape random_window(Random& random);

// Each fills in a call of its operator with random data.
void call_conv2d(Call& call, Random& random, const ConvolutionShape& shape, Scales scales);
// The depth multiplier is out_channels / in_channels.
void call_depthwise_conv2d(Call& call, Random& random, const ConvolutionShape& shape,
                           Scales scales);
// Of one group; `extra` is the output padding of both dimensions.
void call_transpose_conv2d(Call& call, Random& random, const ConvolutionShape& shape, int32_t extra,
                           Scales scales);
void call_linear(Call& call, Random& random, int32_t rows, int32_t depth, int32_t outputs,
                 bool kernel_sum, Scales scales);
void call_batch_matmul(Call& call, Random& random, int32_t batch, int32_t rows, int32_t depth,
                       int32_t columns, Scales scales);
// Along the last of two dimensions.
void call_softmax(Call& call, Random& random, int32_t rows, int32_t count);
void call_add(Call& call, Random& random, int32_t count, Scales scales);
// Operands are {rows, count} and, if `broadcast`, {count}.
void call_quantized_mul(Call& call, Random& random, int32_t rows, int32_t count, bool broadcast,
                        Scales scales);
void call_extreme(Call& call, Random& random, int32_t rows, int32_t count, bool broadcast);
void call_activation(Call& call, Random& random, int32_t count);
void call_quantize(Call& call, Random& random, int32_t count, Scales scales);
void call_dequantize(Call& call, Random& random, int32_t count);
// Groups, depth multiplier and dilation of the shape are not used.
void call_avg_pool2d(Call& call, Random& random, const ConvolutionShape& shape);
void call_max_pool2d(Call& call, Random& random, const ConvolutionShape& shape);

}  // namespace device
