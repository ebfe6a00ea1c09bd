// The names of ExecuTorch's API that firmware/app/engine_executorch.cpp calls, over rt::Method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/exec/method.hpp"

namespace executorch::runtime {

enum class Error : uint32_t {
  Ok = 0x00,
  Internal = 0x01,
  NotSupported = 0x10,
  InvalidArgument = 0x12,
  OperatorMissing = 0x14,
  MemoryAllocationFailed = 0x21,
  InvalidProgram = 0x23,
};

constexpr const char* to_string(Error error) {
  switch (error) {
    case Error::Ok:
      return "Error::Ok";
    case Error::NotSupported:
      return "Error::NotSupported";
    case Error::InvalidArgument:
      return "Error::InvalidArgument";
    case Error::OperatorMissing:
      return "Error::OperatorMissing";
    case Error::MemoryAllocationFailed:
      return "Error::MemoryAllocationFailed";
    case Error::InvalidProgram:
      return "Error::InvalidProgram";
    default:
      return "Error::Internal";
  }
}

template <typename T>
class Result {
 public:
  Result(Error error) : error_(error) {}
  Result(T value) : value_(std::move(value)) {}
  Error error() const { return error_; }
  T& get() { return *value_; }
  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }

 private:
  Error error_ = Error::Ok;
  std::optional<T> value_;
};

template <typename T>
class Span {
 public:
  Span() = default;
  Span(T* data, size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

class FreeableBuffer {
 public:
  FreeableBuffer(const void* data, size_t size, void (*)(void*, void*, size_t))
      : data_(data), size_(size) {}
  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const void* data_;
  size_t size_;
};

class DataLoader {
 public:
  struct SegmentInfo {
    int type = 0;
  };
  virtual Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const = 0;
  virtual Result<size_t> size() const = 0;

 protected:
  ~DataLoader() = default;
};

class MemoryAllocator {
 public:
  static constexpr size_t kDefaultAlignment = alignof(void*);
  MemoryAllocator(uint32_t size, uint8_t* base) : base_(base), size_(size) {}
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment) {
    const size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (begin > size_ || size > size_ - begin) return nullptr;
    used_ = begin + size;
    return base_ + begin;
  }
  virtual uint32_t size() const { return size_; }
  virtual void reset() { used_ = 0; }

 protected:
  ~MemoryAllocator() = default;

 private:
  uint8_t* base_;
  uint32_t size_;
  size_t used_ = 0;
};

class HierarchicalAllocator {
 public:
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers(buffers) {}
  Span<Span<uint8_t>> buffers;
};

struct MemoryManager {
  MemoryManager(MemoryAllocator* method, HierarchicalAllocator* planned, MemoryAllocator* temporary)
      : method(method), planned(planned), temporary(temporary) {}
  MemoryAllocator* method;
  HierarchicalAllocator* planned;
  MemoryAllocator* temporary;
};

class Tensor {
 public:
  explicit Tensor(rt::Tensor tensor) : tensor_(tensor) {}
  const void* const_data_ptr() const { return tensor_.data(); }
  void* mutable_data_ptr() const { return tensor_.data(); }
  size_t nbytes() const { return tensor_.nbytes(); }

 private:
  mutable rt::Tensor tensor_;
};

class EValue {
 public:
  explicit EValue(rt::Tensor tensor) : tensor_(tensor) {}
  bool isTensor() const { return true; }
  const Tensor& toTensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

class MethodMeta {
 public:
  size_t num_memory_planned_buffers() const { return 0; }
  Result<int64_t> memory_planned_buffer_size(size_t) const { return Error::InvalidArgument; }
  size_t num_instructions() const { return instructions; }
  size_t instructions = 0;
};

class Method {
 public:
  size_t inputs_size() const;
  size_t outputs_size() const;
  const EValue& get_input(size_t i) const;
  const EValue& get_output(size_t i) const;
  Error set_input(const EValue&, size_t) { return Error::Ok; }
  Error execute();
  Error step() { return at_++ == 0 ? execute() : Error::Ok; }
  Error reset_execution() {
    at_ = 0;
    return Error::Ok;
  }

 private:
  uint32_t at_ = 0;
};

class Program {
 public:
  enum class Verification : uint8_t { Minimal, InternalConsistency };
  static Result<Program> load(DataLoader* loader, Verification);
  Result<MethodMeta> method_meta(const char* name) const;
  Result<Method> load_method(const char* name, MemoryManager* memory) const;

 private:
  std::span<const std::byte> bytes_;
};

void runtime_init();

}  // namespace executorch::runtime
