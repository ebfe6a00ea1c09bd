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

const Kernel* find_kernel(std::string_view name, std::string_view overload) {
  for (const Kernel& kernel : all_kernels()) {
    std::string_view rest(kernel.name);
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    if (!overload.empty()) {
      if (!rest.starts_with('.')) continue;
      rest.remove_prefix(1);
    }
    if (rest == overload) return &kernel;
  }
  return nullptr;
}

}  // namespace rt
