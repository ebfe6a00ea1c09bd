// The arguments of one instruction, as a kernel sees them.
#pragma once

#include <cstdint>

#include "runtime/core/error.hpp"
#include "runtime/core/value.hpp"

namespace rt {

// A checked list of integers.
class IntList {
 public:
  IntList(BoxedList list, const ValueSlot* slots) : list_(list), slots_(slots) {}
  uint32_t count() const { return list_.count(); }
  int32_t operator[](uint32_t i) const { return slots_[list_.item(i)].integer; }

 private:
  BoxedList list_;
  const ValueSlot* slots_;
};

// A checked list of tensors.
class TensorList {
 public:
  TensorList(TensorIndices indices, const ValueSlot* slots) : indices_(indices), slots_(slots) {}
  uint32_t count() const { return indices_.count(); }
  bool is_none(uint32_t i) const { return indices_.item(i) < 0; }
  Tensor& operator[](uint32_t i) const { return *slots_[indices_.item(i)].tensor; }

 private:
  TensorIndices indices_;
  const ValueSlot* slots_;
};

// Owns nothing; valid during the call of `prepare` or `run`. The accessors trust that `match`
// accepted the arguments: prepare calls it first, run relies on it.
class Args {
 public:
  // `indices` are `count` indices into `values`, all of them in range.
  Args(const ValueTable& values, const int32_t* indices, uint32_t count)
      : values_(values), indices_(indices), count_(count) {}

  // Checks number and kinds of the arguments against a signature, one letter an argument:
  //   t tensor      n tensor or None    o tensor to write
  //   i integer     b bool              d double   s number (double, integer or bool)
  //   l integers    m integers or None  j integer or None  u number or None
  //   w integer of any size, taken as the nearest of 32 bits    v the same or None
  //   T tensors     O tensors to write  N tensors or Nones  D doubles or None  x text
  //   = the same value as the argument before it (an out variant returns its out argument)
  //   _ anything
  // @return argument-count, argument-kind; argument-value for an integer of more than 32 bits.
  Error match(const char* signature);

  // Remembers which argument is at fault.
  // @return `error`
  Error refuse(uint32_t i, Error error) {
    refused_ = static_cast<int32_t>(i);
    return error;
  }
  // @return index among the method's values of the argument at fault, -1 if none was named.
  int32_t refused_value() const { return refused_ < 0 ? -1 : indices_[refused_]; }

  uint32_t count() const { return count_; }
  bool is_tensor(uint32_t i) const { return kind(i) == ValueKind::kTensor; }
  bool is_tensor_list(uint32_t i) const { return kind(i) == ValueKind::kTensorList; }
  // @return entry k of a list of tensors, which `match` may not have looked at; nullptr: no tensor.
  const Tensor* item(uint32_t i, uint32_t k) const {
    const int32_t index = slot(i).tensors.item(k);
    const bool is_one = index >= 0 && static_cast<uint32_t>(index) < values_.count &&
                        values_.kinds[index] == ValueKind::kTensor;
    return is_one ? values_.slots[index].tensor : nullptr;
  }
  bool is_bool(uint32_t i) const { return kind(i) == ValueKind::kBool; }
  bool is_double(uint32_t i) const { return kind(i) == ValueKind::kDouble; }
  bool is_integer(uint32_t i) const { return kind(i) == ValueKind::kInt; }
  // Whether the last argument is a tensor without elements: it is the one to write.
  bool writes_nothing() const {
    return count_ > 0 && kind(count_ - 1) == ValueKind::kTensor &&
           slot(count_ - 1).tensor->numel() == 0;
  }
  // @return the tensor that the instruction writes: its last argument, or the first of the tensors
  // before a list of several results; nullptr if there is none.
  const Tensor* result() const;
  bool is_none(uint32_t i) const { return kind(i) == ValueKind::kNone; }
  Tensor& tensor(uint32_t i) const { return *slot(i).tensor; }
  const Tensor* optional_tensor(uint32_t i) const { return is_none(i) ? nullptr : slot(i).tensor; }
  int32_t integer(uint32_t i) const { return slot(i).integer; }
  bool boolean(uint32_t i) const { return slot(i).integer != 0; }
  double number(uint32_t i) const;
  IntList list(uint32_t i) const { return {slot(i).list, values_.slots}; }
  TensorList tensors(uint32_t i) const { return {slot(i).tensors, values_.slots}; }
  DoubleItems doubles(uint32_t i) const { return slot(i).doubles; }
  std::string_view text(uint32_t i) const { return slot(i).text.view(); }

 private:
  ValueKind kind(uint32_t i) const { return values_.kinds[indices_[i]]; }
  const ValueSlot& slot(uint32_t i) const { return values_.slots[indices_[i]]; }
  Error match_one(char letter, uint32_t i);
  Error match_list(uint32_t i);
  Error match_tensors(uint32_t i, char letter);

  ValueTable values_;
  const int32_t* indices_;
  uint32_t count_;
  int32_t refused_ = -1;
};

}  // namespace rt
