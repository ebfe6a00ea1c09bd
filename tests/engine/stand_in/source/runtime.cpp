// The stand-in's functions.
#include <new>

#include "executorch/stand_in.h"

namespace executorch::runtime {

// Set by the static constructor of the library of kernels.
bool kernels_registered = false;

namespace {

constinit rt::Method method;
bool initialized = false;
// One at a time is held; whoever asks looks at it at once.
alignas(EValue) std::byte held[sizeof(EValue)];

const EValue& hold(const rt::Tensor& tensor) { return *new (held) EValue(tensor); }

}  // namespace

void runtime_init() { initialized = true; }

Result<Program> Program::load(DataLoader* loader, Verification) {
  if (!initialized) return Error::Internal;
  auto size = loader->size();
  auto bytes = loader->load(0, size.get(), {});
  if (bytes.error() != Error::Ok) return bytes.error();
  Program program;
  program.bytes_ = {static_cast<const std::byte*>(bytes->data()), bytes->size()};
  return program;
}

// What the method needs is only known once it was loaded: the plan lies in the method's memory
// here.
Result<MethodMeta> Program::method_meta(const char* name) const {
  rt::pte::Plan plan;
  rt::pte::Verifier verifier;
  if (rt::pte::open(bytes_, name, verifier, plan) != rt::Error::kOk) return Error::InvalidArgument;
  int32_t instruction = 0;
  if (plan.check(verifier, instruction) != rt::Error::kOk) return Error::InvalidProgram;
  MethodMeta meta;
  meta.instructions = plan.instruction_count();
  return meta;
}

Result<Method> Program::load_method(const char* name, MemoryManager* memory) const {
  if (!kernels_registered) return Error::OperatorMissing;
  rt::Failure why;
  // A first load asks, the second has it.
  rt::Error error = rt::Method::load(bytes_, name, {}, method, why);
  if (error == rt::Error::kArenaTooSmall) {
    const size_t bytes = why.need_bytes + why.need_bytes / 4 + 4096;
    auto* arena = static_cast<std::byte*>(memory->method->allocate(bytes, 16));
    if (arena == nullptr) return Error::MemoryAllocationFailed;
    error = rt::Method::load(bytes_, name, {arena, bytes}, method, why);
  }
  if (error == rt::Error::kOperatorMissing) return Error::OperatorMissing;
  if (error != rt::Error::kOk) return Error::InvalidProgram;
  return Method();
}

size_t Method::inputs_size() const { return method.input_count(); }
size_t Method::outputs_size() const { return method.output_count(); }
const EValue& Method::get_input(size_t i) const {
  return hold(method.input(static_cast<uint32_t>(i)));
}
const EValue& Method::get_output(size_t i) const {
  return hold(method.output(static_cast<uint32_t>(i)));
}

Error Method::execute() {
  rt::Failure why;
  return method.execute(why) == rt::Error::kOk ? Error::Ok : Error::Internal;
}

}  // namespace executorch::runtime
