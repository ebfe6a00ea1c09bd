// Calls kernels by name with values that come over a pipe; tests/kernels/harness.py is the other
// end.
//
// request   name, u32 count, then for each argument a kind (u8) and
//             none: -                         int: i64        bool: u8        double: f64
//             list: u32 count, i64 each       same: -         (the value of the argument before)
//             tensor: u8 type, u8 rank, u8 constant, i32 size each, u8 dim order each, data
//             out: as tensor without data
//             tensors: u32 count, each an argument of kind tensor or out
//             doubles: u32 count, f64 each        text: u32 length, characters
// response  name of the error, i32 argument at fault, and for `ok` the data of each out tensor
//
// Names are u32 length and bytes; integers are the host's. Each tensor is a heap block of its exact
// size, so that AddressSanitizer sees the first byte read or written outside. The name `requantize`
// calls that function on three int32 tensors instead of a kernel.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "runtime/core/kernel.hpp"
#include "runtime/kernels/requantize.hpp"

namespace {

enum class Kind : uint8_t {
  kNone,
  kInt,
  kBool,
  kDouble,
  kList,
  kTensor,
  kOut,
  kSame,
  kTensors,
  kDoubles,
  kText,
};

template <typename T>
T read_one() {
  T value;
  if (std::fread(&value, sizeof value, 1, stdin) != 1) std::exit(0);
  return value;
}

template <typename T>
std::vector<T> read_many(size_t count) {
  std::vector<T> values(count);
  if (count != 0 && std::fread(values.data(), sizeof(T), count, stdin) != count) std::exit(0);
  return values;
}

void write_bytes(const void* data, size_t bytes) {
  if (bytes != 0 && std::fwrite(data, 1, bytes, stdout) != bytes) std::exit(1);
}

// A tensor and all that it points to.
struct Held {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<std::byte> data;
  rt::Tensor tensor;
};

struct Call {
  std::vector<rt::ValueSlot> slots;
  std::vector<rt::ValueKind> kinds;
  std::vector<int32_t> indices;  // of the arguments
  std::deque<Held> tensors;
  std::deque<std::vector<std::byte>> lists;
  std::vector<Held*> outs;

  int32_t add(rt::ValueKind kind, rt::ValueSlot slot) {
    kinds.push_back(kind);
    slots.push_back(slot);
    return static_cast<int32_t>(slots.size()) - 1;
  }

  int32_t add_int(int64_t value) {
    rt::ValueSlot slot = {};
    constexpr int64_t kMin = INT32_MIN;
    constexpr int64_t kMax = INT32_MAX;
    slot.integer = static_cast<int32_t>(value < kMin ? kMin : (value > kMax ? kMax : value));
    return add(slot.integer == value ? rt::ValueKind::kInt : rt::ValueKind::kWideInt, slot);
  }

  int32_t add_list() {
    const auto items = read_many<int64_t>(read_one<uint32_t>());
    std::vector<std::byte>& list = lists.emplace_back(4 + 8 * items.size());
    const auto count = static_cast<uint32_t>(items.size());
    std::memcpy(list.data(), &count, 4);
    for (size_t i = 0; i < items.size(); ++i) {
      const int64_t index = add_int(items[i]);
      std::memcpy(list.data() + 4 + 8 * i, &index, 8);
    }
    rt::ValueSlot slot = {};
    slot.list = {list.data()};
    return add(rt::ValueKind::kIntList, slot);
  }

  int32_t add_tensors() {
    const auto count = read_one<uint32_t>();
    std::vector<std::byte>& list = lists.emplace_back(4 + 4 * count);
    std::memcpy(list.data(), &count, 4);
    for (uint32_t i = 0; i < count; ++i) {
      const int32_t argument = add_argument();
      const int32_t index =
          kinds[static_cast<size_t>(argument)] == rt::ValueKind::kNone ? -1 : argument;
      std::memcpy(list.data() + 4 + 4 * i, &index, 4);
    }
    rt::ValueSlot slot = {};
    slot.tensors = {list.data()};
    return add(rt::ValueKind::kTensorList, slot);
  }

  int32_t add_doubles() {
    const auto count = read_one<uint32_t>();
    std::vector<std::byte>& list = lists.emplace_back(4);
    std::memcpy(list.data(), &count, 4);
    const auto items = read_many<std::byte>(sizeof(double) * count);
    list.insert(list.end(), items.begin(), items.end());
    rt::ValueSlot slot = {};
    slot.doubles = {list.data()};
    return add(rt::ValueKind::kDoubleList, slot);
  }

  int32_t add_text() {
    const auto length = read_one<uint32_t>();
    std::vector<std::byte>& text = lists.emplace_back(4);
    std::memcpy(text.data(), &length, 4);
    const auto characters = read_many<std::byte>(length);
    text.insert(text.end(), characters.begin(), characters.end());
    rt::ValueSlot slot = {};
    slot.text = {text.data()};
    return add(rt::ValueKind::kString, slot);
  }

  int32_t add_tensor(bool out) {
    Held& held = tensors.emplace_back();
    const auto type = static_cast<rt::ScalarType>(read_one<uint8_t>());
    const auto rank = read_one<uint8_t>();
    const bool constant = read_one<uint8_t>() != 0;
    held.sizes = read_many<int32_t>(rank);
    held.dim_order = read_many<uint8_t>(rank);
    uint32_t numel = 1;
    for (const int32_t size : held.sizes) numel *= static_cast<uint32_t>(size);
    const size_t bytes = numel * rt::element_bytes(type);
    if (out) {
      held.data.assign(bytes, std::byte{0xA5});
      outs.push_back(&held);
    } else {
      held.data = read_many<std::byte>(bytes);
    }
    held.data.shrink_to_fit();
    held.tensor =
        rt::Tensor(type, held.sizes, held.dim_order.data(), numel, held.data.data(), constant);
    rt::ValueSlot slot = {};
    slot.tensor = &held.tensor;
    return add(rt::ValueKind::kTensor, slot);
  }

  int32_t add_argument() {
    rt::ValueSlot slot = {};
    switch (read_one<Kind>()) {
      case Kind::kNone:
        return add(rt::ValueKind::kNone, slot);
      case Kind::kInt:
        return add_int(read_one<int64_t>());
      case Kind::kBool:
        slot.integer = read_one<uint8_t>();
        return add(rt::ValueKind::kBool, slot);
      case Kind::kDouble: {
        std::vector<std::byte>& number = lists.emplace_back(read_many<std::byte>(sizeof(double)));
        slot.real = reinterpret_cast<const double*>(number.data());
        return add(rt::ValueKind::kDouble, slot);
      }
      case Kind::kList:
        return add_list();
      case Kind::kTensor:
        return add_tensor(false);
      case Kind::kOut:
        return add_tensor(true);
      case Kind::kSame:
        return indices.back();
      case Kind::kTensors:
        return add_tensors();
      case Kind::kDoubles:
        return add_doubles();
      case Kind::kText:
        return add_text();
    }
    std::abort();
  }
};

rt::Error call_kernel(const std::string& name, Call& call, int32_t& refused) {
  const size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const rt::Kernel* kernel = rt::find_kernel(name.substr(0, dot), overload);
  if (kernel == nullptr) return rt::Error::kOperatorMissing;
  const rt::ValueTable values = {call.slots.data(), call.kinds.data(),
                                 static_cast<uint32_t>(call.slots.size())};
  rt::Args args(values, call.indices.data(), static_cast<uint32_t>(call.indices.size()));
  rt::Needs needs;
  const rt::Error error = kernel->prepare(args, needs);
  const int32_t refused_value = args.refused_value();
  // The first of several arguments that are the same value.
  for (size_t i = call.indices.size(); i-- > 0 && refused_value >= 0;) {
    if (call.indices[i] == refused_value) refused = static_cast<int32_t>(i);
  }
  if (error != rt::Error::kOk || args.writes_nothing()) return error;
  std::vector<std::byte> temporary(needs.temporary_bytes);
  return kernel->run(args, temporary);
}

void call_requantize(Call& call) {
  const rt::Tensor& value = call.tensors[0].tensor;
  const rt::Tensor& multiplier = call.tensors[1].tensor;
  const rt::Tensor& shift = call.tensors[2].tensor;
  rt::Tensor& out = call.tensors[3].tensor;
  for (uint32_t i = 0; i < value.numel(); ++i) {
    out.as<int32_t>()[i] = rt::kernels::requantize(
        value.as<int32_t>()[i], multiplier.as<int32_t>()[i], shift.as<int32_t>()[i]);
  }
}

}  // namespace

int main() {
  while (true) {
    const std::vector<char> name_bytes = read_many<char>(read_one<uint32_t>());
    const std::string name(name_bytes.begin(), name_bytes.end());
    const auto count = read_one<uint32_t>();
    Call call;
    for (uint32_t i = 0; i < count; ++i) call.indices.push_back(call.add_argument());

    int32_t refused = -1;
    rt::Error error = rt::Error::kOk;
    if (name == "requantize") {
      call_requantize(call);
    } else {
      error = call_kernel(name, call, refused);
    }
    const char* error_name = rt::error_name(error);
    const auto length = static_cast<uint32_t>(std::strlen(error_name));
    write_bytes(&length, sizeof length);
    write_bytes(error_name, length);
    write_bytes(&refused, sizeof refused);
    if (error == rt::Error::kOk) {
      for (const Held* held : call.outs) write_bytes(held->data.data(), held->data.size());
    }
    std::fflush(stdout);
  }
}
