#include "runtime/core/kernel.hpp"

// The linker defines these around the section; weak, so that an image without any kernel links.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker chose the names.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const rt::Kernel __start_rt_kernels[];
[[gnu::weak, gnu::visibility("hidden")]] extern const rt::Kernel __stop_rt_kernels[];
}
// NOLINTEND(bugprone-reserved-identifier)

namespace rt {

std::span<const Kernel> all_kernels() {
  return {__start_rt_kernels, static_cast<size_t>(__stop_rt_kernels - __start_rt_kernels)};
}

namespace {

// Whether `name` goes on with `part`; then it moves behind it.
bool take(const char*& name, std::string_view part) {
  const char* at = name;
  for (const char c : part) {
    if (c == '\0' || *at++ != c) return false;  // a program's name may hold what ends a kernel's
  }
  name = at;
  return true;
}

}  // namespace

const Kernel* find_kernel(std::string_view name, std::string_view overload) {
  const uint32_t key = kernel_key(name);
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.key != key) continue;
    const char* rest = kernel.name;
    if (!take(rest, name)) continue;
    if (!overload.empty() && !take(rest, ".")) continue;
    if (take(rest, overload) && *rest == '\0') return &kernel;
  }
  return nullptr;
}

}  // namespace rt
