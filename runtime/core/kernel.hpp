// The kernel registry: entries in a linker section, no registration code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/core/args.hpp"
#include "runtime/core/error.hpp"

namespace rt {

// What an instruction needs beside its arguments; `prepare` fills it in.
struct Needs {
  uint32_t temporary_bytes = 0;  // scratch while `run` runs, 16-byte aligned
  uint32_t elements_read = 0;    // by `prepare`, of constant tensors
};

// Checks every argument once, when the method is loaded. May read constant tensors, never others.
using PrepareFn = Error (*)(Args& args, Needs& needs);
// Executes; trusts what `prepare` checked. Not called if the last argument, which is the tensor to
// write unless there are several, has no elements.
using RunFn = Error (*)(const Args& args, std::span<std::byte> temporary);

// A few bits of an operator's name, so that hardly ever a name is compared in vain: its length and
// its last four characters, by which names of one namespace differ most.
constexpr uint32_t kernel_key(std::string_view name) {
  uint32_t key = static_cast<uint32_t>(name.size()) * 0x9E37'79B1;  // 2^32 / golden ratio
  const size_t begin = name.size() < 4 ? 0 : name.size() - 4;
  for (size_t i = begin; i < name.size(); ++i) {
    key ^= static_cast<uint32_t>(static_cast<uint8_t>(name[i])) << (i - begin) * 8;
  }
  return key;
}

struct Kernel {
  const char* name;   // <namespace>::<operator>.<overload>, as in the program
  uint32_t key;       // kernel_key of the name without its overload
  PrepareFn prepare;  // nullptr in an image that loads nothing but verified programs
  RunFn run;
};

// The part of a kernel's name that its key is made of.
constexpr std::string_view without_overload(std::string_view name) {
  return name.substr(0, name.rfind('.'));
}

// All kernels that were linked in.
std::span<const Kernel> all_kernels();

// @return the kernel `<name>.<overload>`, nullptr if the image has none.
const Kernel* find_kernel(std::string_view name, std::string_view overload);

}  // namespace rt

#define RT_KERNEL_JOIN_(a, b) a##b
#define RT_KERNEL_JOIN(a, b) RT_KERNEL_JOIN_(a, b)

// The section of a kernel's entry. On Arm each has one of its own, named by the operator, which
// linker scripts collect, and which can be left out of an image (bench/deployment.py). Elsewhere
// the linker's own symbols around a section are used, so there is one.
#ifdef __arm__
#define RT_KERNEL_SECTION(name) "rt_kernels." name
#else
#define RT_KERNEL_SECTION(name) "rt_kernels"
#endif

// Registers a kernel: a constant entry, which linker scripts KEEP. The alignment is given because
// compilers align larger objects more, which would leave gaps.
#define RT_KERNEL(name, prepare, run)                                                              \
  [[gnu::section(RT_KERNEL_SECTION(name)), gnu::used]] alignas(                                    \
      ::rt::Kernel) static constinit const ::rt::Kernel                                            \
  RT_KERNEL_JOIN(rt_kernel_, __COUNTER__) = {name, ::rt::kernel_key(::rt::without_overload(name)), \
                                             prepare, run}
