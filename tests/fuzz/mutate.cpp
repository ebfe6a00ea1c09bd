#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "runtime/core/kernel.hpp"

namespace fuzz {
namespace {

uint32_t below(Random& random, size_t end) {
  return end == 0 ? 0 : static_cast<uint32_t>(random() % end);
}
bool one_in(Random& random, uint32_t n) { return below(random, n) == 0; }

template <typename T>
T& any(std::vector<T>& items, Random& random) {
  return items[below(random, items.size())];
}

constexpr size_t kMaxTensorBytes = 4096;  // of a tensor that room is made for

// Integers at which something changes, and those near what was there.
int64_t integer(int64_t old, Random& random) {
  static constexpr int64_t kEdges[] = {0,
                                       1,
                                       2,
                                       3,
                                       4,
                                       7,
                                       8,
                                       15,
                                       16,
                                       31,
                                       32,
                                       33,
                                       62,
                                       63,
                                       64,
                                       127,
                                       128,
                                       255,
                                       256,
                                       32767,
                                       65535,
                                       65536,
                                       1 << 20,
                                       INT32_MAX / 2,
                                       INT32_MAX,
                                       -1,
                                       -2,
                                       -4,
                                       -127,
                                       -128,
                                       -129,
                                       INT32_MIN,
                                       INT32_MIN + 1,
                                       UINT32_MAX,
                                       int64_t{1} << 32,
                                       INT64_MAX,
                                       INT64_MIN};
  switch (below(random, 5)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
    case 1:
      return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
    case 2:
      return below(random, 12);
    case 3:
      return static_cast<int64_t>(static_cast<uint64_t>(old) ^ uint64_t{1} << below(random, 64));
    default:
      return kEdges[below(random, std::size(kEdges))];
  }
}

double real(double old, Random& random) {
  static constexpr double kEdges[] = {0.0,  -0.0,  1.0,    -1.0,         0.5,    1e-45, 1e-38,
                                      3e38, 1e300, -1e300, 2147483648.0, -129.0, 256.0, 1e-300};
  switch (below(random, 6)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return -old;
    case 3:
      return old * 2;
    default:
      return kEdges[below(random, std::size(kEdges))];
  }
}

// A change of a list: an item, its length, its order.
template <typename T, typename Item>
void list(std::vector<T>& items, Random& random, Item item) {
  constexpr size_t kMaxItems = 40;
  switch (items.empty() ? 4 : below(random, 7)) {
    case 3:
      items.pop_back();
      break;
    case 4:
      if (items.size() < kMaxItems) items.push_back(static_cast<T>(item(T{})));
      break;
    case 5:
      std::swap(any(items, random), any(items, random));
      break;
    case 6:
      items.erase(items.begin() + below(random, items.size()));
      break;
    default: {
      T& one = any(items, random);
      one = static_cast<T>(item(one));
    }
  }
}

void change_tensor(fb::TensorT& tensor, File& file, Random& random) {
  const auto number = [&](auto old) { return integer(static_cast<int64_t>(old), random); };
  switch (below(random, 12)) {
    case 0:
    case 1:
    case 2:
      list(tensor.sizes, random, number);
      if (one_in(random, 2)) {
        tensor.dim_order.resize(tensor.sizes.size());
        for (size_t i = 0; i < tensor.dim_order.size(); ++i) {
          tensor.dim_order[i] = static_cast<uint8_t>(i);
        }
      }
      break;
    case 3: {  // another shape of as many elements
      if (tensor.sizes.empty()) break;
      int32_t& from = any(tensor.sizes, random);
      const auto factor = static_cast<int32_t>(2 + below(random, 3));
      if (from % factor != 0) break;
      from /= factor;
      int32_t& to = any(tensor.sizes, random);
      if (to < (1 << 20)) to *= factor;
      break;
    }
    case 4:
      if (tensor.dim_order.size() > 1) {
        std::swap(any(tensor.dim_order, random), any(tensor.dim_order, random));
      }
      break;
    case 5:
      list(tensor.dim_order, random, number);
      break;
    case 6: {
      static constexpr int8_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 11, 15, 27, 28, 29, 9};
      tensor.scalar_type = static_cast<fb::ScalarType>(kTypes[below(random, std::size(kTypes))]);
      break;
    }
    case 7:
      if (tensor.allocation_info == nullptr) {
        tensor.allocation_info = std::make_unique<fb::AllocationDetailsT>();
        tensor.allocation_info->memory_id = 1;
        tensor.data_buffer_idx = 0;
      } else if (one_in(random, 2)) {
        tensor.allocation_info.reset();
        tensor.data_buffer_idx = 1 + below(random, 4);
      }
      break;
    case 8:
    case 9:
      if (tensor.allocation_info == nullptr) {
        tensor.data_buffer_idx = static_cast<uint32_t>(number(tensor.data_buffer_idx));
      } else if (one_in(random, 4)) {
        tensor.allocation_info->memory_id = static_cast<uint32_t>(number(1));
      } else {
        uint32_t& offset = tensor.allocation_info->memory_offset_low;
        offset = one_in(random, 2) ? 16 * below(random, 64) : static_cast<uint32_t>(number(offset));
      }
      break;
    case 10:
      if (one_in(random, 4)) {
        tensor.shape_dynamism = static_cast<fb::TensorShapeDynamism>(below(random, 3));
      } else if (tensor.allocation_info != nullptr) {
        tensor.allocation_info->memory_offset_high = one_in(random, 2) ? 1 : 0;
      }
      break;
    default: {  // room for larger tensors
      auto& sizes = file.plan().non_const_buffer_sizes;
      if (sizes.size() > 1) sizes[1] = int64_t{16} << below(random, 14);
    }
  }
}

void change_value(fb::EValueT& value, File& file, Random& random) {
  const size_t values = file.plan().values.size();
  const auto index = [&](auto old) {
    return one_in(random, 32) ? integer(static_cast<int64_t>(old), random)
                              : static_cast<int64_t>(below(random, values));
  };
  if (auto* tensor = value.val.AsTensor()) return change_tensor(*tensor, file, random);
  if (auto* number = value.val.AsInt()) {
    number->int_val = integer(number->int_val, random);
  } else if (auto* flag = value.val.AsBool()) {
    flag->bool_val = !flag->bool_val;
  } else if (auto* fraction = value.val.AsDouble()) {
    fraction->double_val = real(fraction->double_val, random);
  } else if (auto* integers = value.val.AsIntList()) {
    list(integers->items, random, index);
  } else if (auto* tensors = value.val.AsTensorList()) {
    list(tensors->items, random, index);
  } else if (auto* optional = value.val.AsOptionalTensorList()) {
    list(optional->items, random, index);
  } else if (auto* doubles = value.val.AsDoubleList()) {
    list(doubles->items, random, [&](double old) { return real(old, random); });
  } else if (auto* text = value.val.AsString()) {
    text->string_val.resize(below(random, 8), 't');
  }
}

// Another value of the program, or a new one.
void replace_value(std::unique_ptr<fb::EValueT>& value, File& file, Random& random) {
  auto fresh = std::make_unique<fb::EValueT>();
  switch (below(random, 6)) {
    case 0:
      fresh->val.Set(fb::NullT());
      break;
    case 1: {
      fb::IntT number;
      number.int_val = integer(0, random);
      fresh->val.Set(std::move(number));
      break;
    }
    case 2: {
      fb::DoubleT number;
      number.double_val = real(1.0, random);
      fresh->val.Set(std::move(number));
      break;
    }
    default:
      *fresh = *any(file.plan().values, random);
  }
  value = std::move(fresh);
}

void change_instruction(File& file, Random& random) {
  auto& instructions = file.instructions();
  const size_t at = below(random, instructions.size());
  fb::KernelCallT* call = instructions[at]->instr_args.AsKernelCall();
  constexpr size_t kMaxInstructions = 12;
  switch (call == nullptr ? 6 : below(random, 8)) {
    case 0:
    case 1:
      if (one_in(random, 16))
        call->op_index = static_cast<int32_t>(integer(0, random));
      else
        call->op_index = static_cast<int32_t>(below(random, file.plan().operators.size()));
      break;
    case 2:
      if (instructions.size() < kMaxInstructions) {
        instructions.push_back(std::make_unique<fb::InstructionT>(*instructions[at]));
      }
      break;
    case 3:
      std::swap(any(instructions, random), any(instructions, random));
      break;
    case 6:
      if (instructions.size() > 1) {
        instructions.erase(instructions.begin() + static_cast<ptrdiff_t>(at));
      }
      break;
    default:
      list(call->args, random, [&](int32_t old) {
        return one_in(random, 32) ? integer(old, random)
                                  : static_cast<int64_t>(below(random, file.plan().values.size()));
      });
  }
}

void change_operator(File& file, Random& random) {
  const std::span<const rt::Kernel> kernels = rt::all_kernels();
  const std::string name = kernels[below(random, kernels.size())].name;
  fb::OperatorT& op = *any(file.plan().operators, random);
  const size_t dot = name.find('.');
  op.name = name.substr(0, dot);
  op.overload = dot == std::string::npos ? "" : name.substr(dot + 1);
}

void change_constant(File& file, Random& random) {
  auto& buffers = file.program->constant_buffer;
  std::vector<uint8_t>& bytes =
      file.segments.empty() && !buffers.empty() ? any(buffers, random)->storage : file.segments;
  constexpr size_t kMaxBytes = 1024;
  if (one_in(random, 4) && bytes.size() < kMaxBytes) {
    bytes.resize(bytes.size() + 1 + below(random, 64));
  } else if (one_in(random, 8) && !bytes.empty()) {
    bytes.resize(below(random, bytes.size()));
  }
  for (uint32_t i = below(random, 8); i-- > 0 && !bytes.empty();) {
    any(bytes, random) = static_cast<uint8_t>(integer(any(bytes, random), random));
  }
}

// Puts the constants into the flatbuffer, where older exporters have them.
void inline_constants(File& file) {
  const fb::SubsegmentOffsetsT* segment = file.program->constant_segment.get();
  if (segment == nullptr || segment->offsets.empty()) return;
  auto& buffers = file.program->constant_buffer;
  buffers.clear();
  for (size_t i = 0; i < segment->offsets.size(); ++i) {
    const size_t end = file.segments.size();
    const size_t begin = std::min<size_t>(segment->offsets[i], end);
    const size_t next = i + 1 < segment->offsets.size() ? segment->offsets[i + 1] : end;
    buffers.push_back(std::make_unique<fb::BufferT>());
    if (next > begin && next <= end) {
      buffers.back()->storage.assign(file.segments.begin() + static_cast<ptrdiff_t>(begin),
                                     file.segments.begin() + static_cast<ptrdiff_t>(next));
    }
  }
  file.program->constant_segment.reset();
  file.segments.clear();
}

void change_frame(File& file, Random& random) {
  fb::ExecutionPlanT& plan = file.plan();
  const auto number = [&](auto old) { return integer(static_cast<int64_t>(old), random); };
  const auto index = [&](auto) { return static_cast<int64_t>(below(random, plan.values.size())); };
  switch (below(random, 7)) {
    case 0:
      list(plan.inputs, random, index);
      break;
    case 1:
      list(plan.outputs, random, index);
      break;
    case 2:
      list(plan.non_const_buffer_sizes, random, number);
      break;
    case 3:
      if (file.program->constant_segment != nullptr) {
        list(file.program->constant_segment->offsets, random, number);
      }
      break;
    case 4:
      if (!file.program->segments.empty()) {
        fb::DataSegmentT& segment = *any(file.program->segments, random);
        uint64_t& field = one_in(random, 2) ? segment.offset : segment.size;
        field = static_cast<uint64_t>(number(field));
      }
      break;
    case 5:
      inline_constants(file);
      break;
    default:
      file.with_header = !file.with_header;
  }
}

size_t bytes_of(const fb::TensorT& tensor) {
  size_t bytes = rt::element_bytes(static_cast<rt::ScalarType>(tensor.scalar_type));
  for (const int32_t size : tensor.sizes) {
    if (size < 0 || bytes > kMaxTensorBytes) return 0;
    bytes *= static_cast<size_t>(size);
  }
  return bytes > kMaxTensorBytes ? 0 : bytes;
}

void grow_segment(File& file, size_t constant, size_t bytes) {
  const fb::SubsegmentOffsetsT* constants = file.program->constant_segment.get();
  if (constants == nullptr || constant >= constants->offsets.size()) return;
  if (constants->segment_index >= file.program->segments.size()) return;
  fb::DataSegmentT& segment = *file.program->segments[constants->segment_index];
  const uint64_t offset = constants->offsets[constant];
  if (offset > kMaxTensorBytes || segment.offset > kMaxTensorBytes) return;
  segment.size = std::max<uint64_t>(segment.size, offset + bytes);
  if (segment.size > 4 * kMaxTensorBytes) return;
  file.segments.resize(
      std::max(file.segments.size(), static_cast<size_t>(segment.offset + segment.size)));
}

}  // namespace

void repair(File& file) {
  for (const auto& value : file.plan().values) {
    fb::TensorT* tensor = value->val.AsTensor();
    if (tensor == nullptr) continue;
    auto sorted = tensor->dim_order;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != i) sorted.clear();
    }
    if (sorted.size() != tensor->sizes.size()) {
      tensor->dim_order.resize(tensor->sizes.size());
      std::iota(tensor->dim_order.begin(), tensor->dim_order.end(), uint8_t{0});
    }
    const size_t bytes = bytes_of(*tensor);
    if (tensor->allocation_info != nullptr) {
      auto& sizes = file.plan().non_const_buffer_sizes;
      const uint32_t buffer = tensor->allocation_info->memory_id;
      if (buffer == 0 || buffer >= sizes.size()) continue;
      const uint32_t offset = tensor->allocation_info->memory_offset_low;
      if (offset < kMaxTensorBytes) {
        sizes[buffer] = std::max(sizes[buffer], static_cast<int64_t>(offset + bytes));
      }
    } else if (tensor->data_buffer_idx < file.program->constant_buffer.size()) {
      std::vector<uint8_t>& storage =
          file.program->constant_buffer[tensor->data_buffer_idx]->storage;
      storage.resize(std::max(storage.size(), bytes));
    } else {
      grow_segment(file, tensor->data_buffer_idx, bytes);
    }
  }
}

void mutate(File& file, Random& random) {
  auto& values = file.plan().values;
  switch (below(random, 16)) {
    case 0:
      return change_operator(file, random);
    case 1:
      return change_constant(file, random);
    case 2:
      return change_frame(file, random);
    case 3:
    case 4:
      return replace_value(any(values, random), file, random);
    case 5:
    case 6:
    case 7:
      return change_instruction(file, random);
    default:
      return change_value(*any(values, random), file, random);
  }
}

void append(File& file, const File& other) {
  constexpr size_t kMaxValues = 120;
  fb::ExecutionPlanT& plan = file.plan();
  const fb::ExecutionPlanT& from = *other.program->execution_plan[0];
  if (plan.values.size() + from.values.size() > kMaxValues) return;
  const auto values = static_cast<int32_t>(plan.values.size());
  const auto operators = static_cast<int32_t>(plan.operators.size());
  for (const auto& value : from.values) {
    auto copy = std::make_unique<fb::EValueT>(*value);
    const auto shift = [&](auto& items) {
      for (auto& item : items) item += item >= 0 ? values : 0;
    };
    if (auto* items = copy->val.AsIntList()) shift(items->items);
    if (auto* items = copy->val.AsTensorList()) shift(items->items);
    if (auto* items = copy->val.AsOptionalTensorList()) shift(items->items);
    plan.values.push_back(std::move(copy));
  }
  for (const auto& op : from.operators) {
    plan.operators.push_back(std::make_unique<fb::OperatorT>(*op));
  }
  for (const auto& instruction : from.chains[0]->instructions) {
    auto copy = std::make_unique<fb::InstructionT>(*instruction);
    if (auto* call = copy->instr_args.AsKernelCall()) {
      call->op_index += operators;
      for (int32_t& argument : call->args) argument += values;
    }
    file.instructions().push_back(std::move(copy));
  }
  for (const int32_t input : from.inputs) plan.inputs.push_back(input + values);
  for (size_t i = 1; i < from.non_const_buffer_sizes.size(); ++i) {
    if (i >= plan.non_const_buffer_sizes.size()) {
      plan.non_const_buffer_sizes.push_back(from.non_const_buffer_sizes[i]);
    } else {
      plan.non_const_buffer_sizes[i] =
          std::max(plan.non_const_buffer_sizes[i], from.non_const_buffer_sizes[i]);
    }
  }
}

}  // namespace fuzz
