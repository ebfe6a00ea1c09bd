#include "tests/fuzz/attempt.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/exec/method.hpp"

#ifdef __has_feature  // Clang's way to say it
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__  // GCC's
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) (static_cast<void>(start), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) \
  (static_cast<void>(start), static_cast<void>(bytes))
#endif

namespace fuzz {
namespace {

constexpr size_t kAlignment = 16;
// What one attempt may cost: a changed size easily asks for gigabytes and hours, and is right to.
constexpr size_t kMaxArenaBytes = size_t{256} << 10;
constexpr size_t kMaxFileBytes = size_t{512} << 10;
constexpr uint64_t kMaxWork = uint64_t{1} << 20;

// Memory of which exactly `bytes` may be used, from a multiple of 16 and `skew` on. Not the heap:
// under AddressSanitizer an allocation takes as long as loading a small program.
template <size_t kBytes>
class Room {
 public:
  std::span<std::byte> open(size_t bytes, size_t skew) {
    ASAN_UNPOISON_MEMORY_REGION(room_, sizeof room_);
    // All of a large arena would take longer than loading into it.
    if (bytes != 0) std::memset(room_ + kMargin + skew, 0xA5, bytes < 8192 ? bytes : 8192);
    ASAN_POISON_MEMORY_REGION(room_, sizeof room_);
    ASAN_UNPOISON_MEMORY_REGION(room_ + kMargin + skew, bytes);
    return {room_ + kMargin + skew, bytes};
  }

 private:
  static constexpr size_t kMargin = 4096;
  alignas(kAlignment) std::byte room_[kMargin + kBytes + kAlignment + kMargin] = {};
};
Room<kMaxFileBytes> file_room;
Room<kMaxArenaBytes> arena_room;
std::byte pool_before[kMaxArenaBytes];

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// Calls `use` for each tensor among an instruction's arguments, those in lists included.
template <typename Use>
void for_each_tensor(const rt::Args& args, Use use) {
  for (uint32_t i = 0; i < args.count(); ++i) {
    if (args.is_tensor(i)) use(args.tensor(i));
    if (!args.is_tensor_list(i)) continue;
    for (uint32_t k = 0; k < args.tensors(i).count(); ++k) {
      if (const rt::Tensor* tensor = args.item(i, k)) use(*tensor);
    }
  }
}

// The most that an instruction can have to do: for each element that it writes, look at each of
// its largest input. What takes longer than this allows is a loop that the sizes do not bound.
uint64_t declared_work(const rt::Args& args) {
  uint64_t largest = 1;
  uint64_t second = 1;
  for_each_tensor(args, [&](const rt::Tensor& tensor) {
    uint64_t numel = 1;  // a loop may run over the other dimensions of an empty tensor
    for (const int32_t size : tensor.sizes()) numel *= static_cast<uint32_t>(size > 0 ? size : 1);
    if (numel > largest) {
      second = largest;
      largest = numel;
    } else if (numel > second) {
      second = numel;
    }
  });
  return largest * second;
}

class Guarded {
 public:
  Guarded(rt::Method& method, std::span<std::byte> arena) : method_(method) {
    const rt::MemoryUse use = method.memory();
    const size_t skew = reinterpret_cast<uintptr_t>(arena.data()) % kAlignment;
    planned_ = arena.subspan(skew == 0 ? 0 : kAlignment - skew);
    pool_ = planned_.subspan(use.planned_bytes, use.method_bytes);
    planned_ = planned_.first(use.planned_bytes);
    std::memcpy(pool_before, pool_.data(), pool_.size());
  }

  rt::Error execute(rt::Failure& why) {
    const rt::InstructionHook hook = {
        [](void* self, uint32_t i) { static_cast<Guarded*>(self)->before(i); },
        [](void* self, uint32_t) { static_cast<Guarded*>(self)->open(); },
        this,
    };
    const rt::Error error = method_.execute(why, &hook);
    demand(std::memcmp(pool_.data(), pool_before, pool_.size()) == 0,
           "a kernel wrote into the method's data");
    return error;
  }

 private:
  void before(uint32_t instruction) {
    ASAN_POISON_MEMORY_REGION(planned_.data(), planned_.size());
    for_each_tensor(method_.arguments(instruction), [](const rt::Tensor& tensor) {
      if (!tensor.is_constant()) ASAN_UNPOISON_MEMORY_REGION(tensor.data(), tensor.nbytes());
    });
  }
  void open() { ASAN_UNPOISON_MEMORY_REGION(planned_.data(), planned_.size()); }

  rt::Method& method_;
  std::span<std::byte> planned_, pool_;
};

// Numbers of all magnitudes, small ones above all: as indices they are often valid.
void fill(std::span<std::byte> bytes, uint32_t& random) {
  for (std::byte& byte : bytes) {
    random = random * 1664525U + 1013904223U;  // Numerical Recipes' generator
    byte = random >> 30 == 0 ? std::byte(random >> 16) : std::byte{0};
  }
}

uint32_t hash(std::span<const uint8_t> bytes) {
  uint64_t hash = bytes.size();
  for (size_t i = 0; i + sizeof hash <= bytes.size(); i += sizeof hash) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[i], sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
    hash ^= hash >> 29;
  }
  return static_cast<uint32_t>(hash);
}

}  // namespace

Attempt attempt(std::span<const uint8_t> file) {
  if (file.size() > kMaxFileBytes) return {Outcome::kTooLarge, "file"};
  const std::span<std::byte> pte = file_room.open(file.size(), 0);
  if (!file.empty()) std::memcpy(pte.data(), file.data(), file.size());
  uint32_t random = hash(file);
  const size_t skew = random % 4 == 0 ? random >> 2 & 15U : 0;

  rt::Method method;
  rt::Failure why;
  // In one of sixteen the arena is found as a caller without an idea finds it: by what load says
  // that it needs. The second answer is exact; the first may lack the kernels' scratch.
  const bool asks = (random >> 6 & 15U) == 0;
  std::span<std::byte> arena = arena_room.open(asks ? 0 : kMaxArenaBytes, skew);
  rt::Error error = rt::Method::load(pte, "forward", arena, method, why);
  for (int i = 0; asks && i < 2 && error == rt::Error::kArenaTooSmall; ++i) {
    if (why.need_bytes > kMaxArenaBytes) break;
    arena = arena_room.open(why.need_bytes, skew);
    error = rt::Method::load(pte, "forward", arena, method, why);
  }
  if (error == rt::Error::kArenaTooSmall) {
    demand(why.need_bytes > kMaxArenaBytes, "what load said it needs does not suffice");
    return {Outcome::kTooLarge, rt::error_name(error)};
  }
  if (error != rt::Error::kOk) return {Outcome::kRefused, rt::error_name(error)};
  if (!asks) {
    arena = arena_room.open(method.memory().needed_bytes, skew);
    error = rt::Method::load(pte, "forward", arena, method, why);
    demand(error == rt::Error::kOk, "it loads only into a larger arena than it needs");
  }

  uint64_t work = 0;
  for (uint32_t i = 0; i < method.instruction_count(); ++i) {
    work += declared_work(method.arguments(i));
    if (work > kMaxWork) return {Outcome::kTooLarge, "work"};
  }
  for (uint32_t i = 0; i < method.input_count(); ++i) {
    rt::Tensor& input = method.input(i);
    fill({input.data(), input.nbytes()}, random);
  }
  Guarded guarded(method, arena);
  error = guarded.execute(why);
  demand(file.empty() || std::memcmp(pte.data(), file.data(), file.size()) == 0,
         "a kernel wrote into the program");
  return {error == rt::Error::kOk ? Outcome::kRan : Outcome::kFailed, rt::error_name(error)};
}

}  // namespace fuzz
