// The engine over ExecuTorch's own runtime, as an installed package has it: headers and libraries
// that the user built for the board's cpu (docs/engines.md).
//
// The arena is cut into the program's planned buffers, the method allocator, and the temporary
// allocator, which has the last quarter of what the plan leaves.
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "firmware/app/engine.hpp"

#ifdef __arm__
extern "C" {
// Its kernels register themselves in static constructors, which no other image has.
using Constructor = void (*)();
extern const Constructor lab_init_array_start[];
extern const Constructor lab_init_array_end[];
// Nothing is ever destroyed.
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void* __dso_handle = nullptr;
}
#endif

namespace fw::engine {
namespace {

namespace et = ::executorch::runtime;

constexpr size_t kAlignment = 16;
constexpr size_t kMaxBuffers = 8;
constexpr size_t kMaxName = 64;

// The package has no loader of programs in memory among its installed headers.
class Bytes final : public et::DataLoader {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  et::Result<et::FreeableBuffer> load(size_t offset, size_t size,
                                      const SegmentInfo&) const override {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return et::Error::InvalidArgument;
    return et::FreeableBuffer(bytes_.data() + offset, size, nullptr);
  }
  et::Result<size_t> size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

// Knows how much of it was ever used, and what did not fit.
class Counted final : public et::MemoryAllocator {
 public:
  explicit Counted(std::span<std::byte> memory)
      : MemoryAllocator(static_cast<uint32_t>(memory.size()),
                        reinterpret_cast<uint8_t*>(memory.data())) {}
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    const size_t begin = (used_ + alignment - 1) / alignment * alignment;
    void* const place = MemoryAllocator::allocate(size, alignment);
    if (place == nullptr) {
      missed_ = std::max(missed_, begin + size);
    } else {
      used_ = begin + size;
      peak_ = std::max(peak_, used_);
    }
    return place;
  }
  void reset() override {
    MemoryAllocator::reset();
    used_ = 0;
  }
  uint32_t peak() const { return static_cast<uint32_t>(peak_); }
  uint32_t missed() const { return static_cast<uint32_t>(missed_); }

 private:
  size_t used_ = 0, peak_ = 0, missed_ = 0;
};

// Everything that a loaded method consists of; built in place, so that nothing runs before main.
struct State {
  explicit State(std::span<const std::byte> file) : bytes(file) {}
  Bytes bytes;
  std::optional<et::Program> program;
  et::Span<uint8_t> planned[kMaxBuffers];
  std::optional<et::HierarchicalAllocator> hierarchy;
  std::optional<Counted> method_memory, temporary_memory;
  std::optional<et::MemoryManager> manager;
  std::optional<et::Method> method;
  uint32_t instructions = 0;
  Memory memory = {};
};
alignas(State) std::byte room[sizeof(State)];
State* state;

constexpr std::string_view kArenaTooSmall = "arena-too-small";

// `Error::NotFound` becomes `executorch-not-found`.
char code[kMaxName];
std::string_view last_code;  // of the last refusal
std::string_view code_of(et::Error error) {
  std::string_view name = et::to_string(error);
  if (const size_t at = name.rfind(':'); at != std::string_view::npos) name.remove_prefix(at + 1);
  constexpr std::string_view kPrefix = "executorch";
  size_t length = kPrefix.copy(code, sizeof code);
  for (const char letter : name) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    if (length + 2 > sizeof code) break;
    if (upper) code[length++] = '-';
    code[length++] = upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return {code, length};
}

bool refused(et::Error error, Refusal& why) {
  if (error == et::Error::Ok) return false;
  why = {};
  last_code = code_of(error);
  for (const auto* pool : {&state->method_memory, &state->temporary_memory}) {
    if (!pool->has_value() || (*pool)->missed() == 0) continue;
    last_code = kArenaTooSmall;
    why.have_bytes = state->memory.arena_bytes;
    why.need_bytes = state->memory.arena_bytes + (*pool)->missed() - (*pool)->size();
  }
  return true;
}

std::span<std::byte> take(std::span<std::byte>& from, size_t bytes) {
  const std::span<std::byte> taken = from.first(bytes);
  from = from.subspan(std::min(from.size(), (bytes + kAlignment - 1) / kAlignment * kAlignment));
  return taken;
}

// Cuts the arena up. @return false if the plan alone does not fit.
bool lay_out(const et::MethodMeta& meta, std::span<std::byte> arena, Refusal& why) {
  const size_t count = meta.num_memory_planned_buffers();
  state->memory.arena_bytes = static_cast<uint32_t>(arena.size());
  std::span<std::byte> rest = arena;
  for (size_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<size_t>(meta.memory_planned_buffer_size(i).get());
    if (i >= kMaxBuffers || bytes > rest.size()) {
      last_code = kArenaTooSmall;
      why = {.have_bytes = state->memory.arena_bytes,
             .need_bytes = static_cast<uint32_t>(arena.size() - rest.size() + bytes)};
      return false;
    }
    const std::span<std::byte> taken = take(rest, bytes);
    state->planned[i] = {reinterpret_cast<uint8_t*>(taken.data()), taken.size()};
  }
  state->memory.planned_bytes = static_cast<uint32_t>(arena.size() - rest.size());
  const size_t method_bytes = rest.size() * 3 / 4 / kAlignment * kAlignment;
  state->hierarchy.emplace(et::Span<et::Span<uint8_t>>{state->planned, count});
  state->method_memory.emplace(take(rest, method_bytes));
  state->temporary_memory.emplace(rest);
  state->manager.emplace(&*state->method_memory, &*state->hierarchy, &*state->temporary_memory);
  return true;
}

// Each input is its own planned memory, which the caller writes; ExecuTorch wants to be told.
et::Error set_inputs(et::Method& method) {
  for (size_t i = 0; i < method.inputs_size(); ++i) {
    const et::EValue input = method.get_input(i);
    if (input.isTensor() && input.toTensor().const_data_ptr() == nullptr) {
      return et::Error::NotSupported;
    }
    if (const et::Error error = method.set_input(input, i); error != et::Error::Ok) return error;
  }
  return et::Error::Ok;
}

void start_runtime() {
  static bool started = false;
  if (started) return;
  started = true;
#ifdef __arm__
  for (const Constructor* at = lab_init_array_start; at != lab_init_array_end; ++at) (*at)();
#endif
  et::runtime_init();
}

std::span<std::byte> bytes_of(const et::EValue& value) {
  if (!value.isTensor()) return {};
  const auto& tensor = value.toTensor();
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

}  // namespace

std::string_view name() { return "executorch"; }
std::string_view version() { return LAB_ENGINE_VERSION; }

std::string_view refusal_code() { return last_code; }
std::string_view refusal_operator() { return {}; }

bool load(std::span<const std::byte> file, std::string_view method_name, std::span<std::byte> arena,
          Refusal& why) {
  start_runtime();
  if (state != nullptr) state->~State();
  state = new (room) State(file);
  char name[kMaxName] = {};
  method_name.copy(name, sizeof name - 1);

  auto program = et::Program::load(&state->bytes, et::Program::Verification::InternalConsistency);
  if (refused(program.error(), why)) return false;
  state->program.emplace(std::move(program.get()));
  auto meta = state->program->method_meta(name);
  if (refused(meta.error(), why) || !lay_out(*meta, arena, why)) return false;
  state->instructions = static_cast<uint32_t>(meta->num_instructions());
  auto method = state->program->load_method(name, &*state->manager);
  if (refused(method.error(), why)) return false;
  state->method.emplace(std::move(method.get()));
  return !refused(set_inputs(*state->method), why);
}

uint32_t instruction_count() { return state->instructions; }

void for_each_input(void (*use)(void*, std::span<std::byte>), void* context) {
  for (size_t i = 0; i < state->method->inputs_size(); ++i) {
    const et::EValue input = state->method->get_input(i);
    if (input.isTensor()) use(context, bytes_of(input));
  }
}

uint32_t output_count() { return static_cast<uint32_t>(state->method->outputs_size()); }
std::span<const std::byte> output(uint32_t i) { return bytes_of(state->method->get_output(i)); }
std::span<std::byte> output_memory(uint32_t i) {
  const std::span<std::byte> memory = bytes_of(state->method->get_output(i));
  for (const et::Span<uint8_t>& planned : state->planned) {
    const auto* const begin = reinterpret_cast<std::byte*>(planned.data());
    if (memory.data() >= begin && memory.data() < begin + planned.size()) return memory;
  }
  return {};  // a constant
}

// The package tells nobody what an instruction wrote.
std::span<const std::byte> result(uint32_t) { return {}; }

void for_each_argument(uint32_t, void (*)(void*, std::span<const std::byte>), void*) {}

bool execute(const Hook* hook, Refusal& why) {
  et::Method& method = *state->method;
  if (hook == nullptr) return !refused(method.execute(), why);
  for (uint32_t i = 0; i < state->instructions; ++i) {
    if (hook->before != nullptr) hook->before(hook->context, i);
    const et::Error error = method.step();
    if (hook->after != nullptr) hook->after(hook->context, i);
    if (refused(error, why)) {
      why.instruction = static_cast<int32_t>(i);
      return false;
    }
  }
  return !refused(method.reset_execution(), why);
}

// Its method keeps its values there.
Part fixed_memory() { return {}; }

Memory memory() {
  Memory use = state->memory;
  use.method_bytes = state->method_memory->peak();
  use.temporary_bytes = state->temporary_memory->peak();
  use.needed_bytes = use.planned_bytes + use.method_bytes + use.temporary_bytes;
  return use;
}

}  // namespace fw::engine
