// libFuzzer's entry points. With FUZZ_COUNTS=FILE the outcomes of all executions are written there
// at the end, one `outcome error count` a line.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tests/fuzz/attempt.hpp"
#include "tests/fuzz/mutate.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr const char* kOutcomes[] = {"refused", "too-large", "failed", "ran"};

// By the address of the error's name, which is a constant: no string is compared in the loop.
using Counts = std::map<std::pair<fuzz::Outcome, const char*>, uint64_t>;
Counts& counts() {
  static auto* counts = new Counts;  // outlives the handlers of exit
  return *counts;
}

void write_counts() {
  const char* path = std::getenv("FUZZ_COUNTS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  for (const auto& [what, count] : counts()) {
    std::fprintf(file, "%s %s %llu\n", kOutcomes[static_cast<int>(what.first)], what.second,
                 static_cast<unsigned long long>(count));
  }
  std::fclose(file);
}

size_t store(const fuzz::File& file, uint8_t* data, size_t size, size_t max_size) {
  const std::vector<uint8_t> bytes = fuzz::pack(file, max_size);
  if (bytes.empty()) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  counts();
  std::atexit(write_counts);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Attempt attempt = fuzz::attempt({data, size});
  ++counts()[{attempt.outcome, attempt.error}];
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  fuzz::Random random(seed);
  fuzz::File file;
  // One in eight is a change of bytes, which reaches what no serializer writes.
  if (random() % 8 == 0 || !fuzz::unpack({data, size}, file)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  do fuzz::mutate(file, random);
  while (random() % 4 == 0);
  if (random() % 8 != 0) fuzz::repair(file);
  return store(file, data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2, uint8_t* out,
                                            size_t max_size, unsigned int seed) {
  fuzz::Random random(seed);
  fuzz::File file;
  fuzz::File other;
  if (size1 > max_size) return 0;
  std::memcpy(out, data1, size1);
  if (!fuzz::unpack({data1, size1}, file) || !fuzz::unpack({data2, size2}, other)) return size1;
  fuzz::append(file, other);
  fuzz::mutate(file, random);
  fuzz::repair(file);
  return store(file, out, size1, max_size);
}
