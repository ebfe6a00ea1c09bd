// Attempts each file that is named, in order; one line a file: outcome, error, path.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/core/kernel.hpp"
#include "tests/fuzz/attempt.hpp"

int main(int argc, char** argv) {
  static constexpr const char* kOutcomes[] = {"refused", "too-large", "failed", "ran"};
  if (argc == 1) {
    for (const rt::Kernel& kernel : rt::all_kernels()) std::puts(kernel.name);
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const fuzz::Attempt attempt =
        fuzz::attempt({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    std::printf("%s %s %s\n", kOutcomes[static_cast<int>(attempt.outcome)], attempt.error, argv[i]);
  }
  return 0;
}
