#include "runtime/core/args.hpp"

#include <bit>

namespace rt {
namespace {

// No operator takes more integers than a tensor has dimensions, but for the multipliers of
// quantized_linear, of which the exporter writes one.
constexpr uint32_t kMaxListItems = 64;

// Without the library's conversion, which on cores without doubles brings their addition along.
double to_double(int32_t value) {
  if (value == 0) return 0.0;
  const uint64_t sign = value < 0 ? uint64_t{1} << 63 : 0;
  const uint32_t magnitude =
      value < 0 ? 0U - static_cast<uint32_t>(value) : static_cast<uint32_t>(value);
  const auto places = static_cast<uint32_t>(std::bit_width(magnitude)) - 1;
  // The leading place of the magnitude adds one to the exponent.
  return std::bit_cast<double>(sign + (uint64_t{1022 + places} << 52) +
                               (uint64_t{magnitude} << (52 - places)));
}

}  // namespace

Error Args::match(const char* signature) {
  uint32_t i = 0;
  for (; signature[i] != '\0'; ++i) {
    if (i == count_) return Error::kArgumentCount;
    RT_TRY(match_one(signature[i], i));
  }
  return i == count_ ? Error::kOk : Error::kArgumentCount;
}

Error Args::match_one(char letter, uint32_t i) {
  const ValueKind kind = this->kind(i);
  const bool optional = letter == 'n' || letter == 'm' || letter == 'j' || letter == 'u' ||
                        letter == 'v' || letter == 'D';
  if (optional && kind == ValueKind::kNone) return Error::kOk;
  bool fits = false;
  switch (letter) {
    case 't':
    case 'n':
      fits = kind == ValueKind::kTensor;
      break;
    case 'o':
      fits = kind == ValueKind::kTensor && !slot(i).tensor->is_constant();
      break;
    case 'i':
    case 'j':
      if (kind == ValueKind::kWideInt) return refuse(i, Error::kArgumentValue);
      fits = kind == ValueKind::kInt;
      break;
    case 'w':
    case 'v':
      fits = kind == ValueKind::kInt || kind == ValueKind::kWideInt;
      break;
    case 'b':
      fits = kind == ValueKind::kBool;
      break;
    case 'd':
      fits = kind == ValueKind::kDouble;
      break;
    case 's':
    case 'u':
      fits = kind == ValueKind::kDouble || kind == ValueKind::kInt || kind == ValueKind::kBool;
      break;
    case 'l':
    case 'm':
      if (kind == ValueKind::kIntList) return match_list(i);
      break;
    case 'T':
    case 'O':
    case 'N':
      if (kind == ValueKind::kTensorList) return match_tensors(i, letter);
      break;
    case 'x':
      fits = kind == ValueKind::kString;
      break;
    case 'D':
      fits = kind == ValueKind::kDoubleList;
      break;
    case '=':
      fits = i > 0 && indices_[i] == indices_[i - 1];
      break;
    default:
      fits = letter == '_';
      break;
  }
  return fits ? Error::kOk : refuse(i, Error::kArgumentKind);
}

Error Args::match_list(uint32_t i) {
  const BoxedList list = slot(i).list;
  const uint32_t count = list.count();
  if (count > kMaxListItems) return refuse(i, Error::kArgumentValue);
  for (uint32_t k = 0; k < count; ++k) {
    const int64_t item = list.item(k);
    if (item < 0 || item >= static_cast<int64_t>(values_.count)) {
      return refuse(i, Error::kIndexOutOfRange);
    }
    const ValueKind kind = values_.kinds[item];
    if (kind == ValueKind::kWideInt) return refuse(i, Error::kArgumentValue);
    if (kind != ValueKind::kInt) return refuse(i, Error::kArgumentKind);
  }
  return Error::kOk;
}

Error Args::match_tensors(uint32_t i, char letter) {
  const TensorIndices list = slot(i).tensors;
  const uint32_t count = list.count();
  for (uint32_t k = 0; k < count; ++k) {
    const int32_t item = list.item(k);
    if (item == -1 && letter == 'N') continue;
    if (item < 0 || static_cast<uint32_t>(item) >= values_.count) {
      return refuse(i, Error::kIndexOutOfRange);
    }
    if (values_.kinds[item] != ValueKind::kTensor) return refuse(i, Error::kArgumentKind);
    if (letter == 'O' && values_.slots[item].tensor->is_constant()) {
      return refuse(i, Error::kArgumentKind);
    }
  }
  return Error::kOk;
}

const Tensor* Args::result() const {
  const auto is_tensor = [&](uint32_t i) { return kind(i) == ValueKind::kTensor; };
  if (count_ == 0) return nullptr;
  uint32_t i = count_ - 1;
  if (!is_tensor(i)) {
    while (i > 0 && is_tensor(i - 1)) --i;
  }
  return is_tensor(i) ? slot(i).tensor : nullptr;
}

double Args::number(uint32_t i) const {
  if (kind(i) != ValueKind::kDouble) return to_double(slot(i).integer);
  double number = 0.0;
  std::memcpy(&number, slot(i).real, sizeof number);
  return number;
}

}  // namespace rt
