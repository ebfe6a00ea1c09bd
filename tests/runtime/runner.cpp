// Runs .pte programs on the host for the tests. Every buffer is a heap block of its exact size, so
// that AddressSanitizer sees the first byte read or written outside.
//
//   runner run PTE METHOD ARENA_BYTES ARENA_SKEW PTE_SKEW TABLES OUT [IN...]
//                                    ARENA_BYTES -1: what is needed; TABLES -: none
//   runner truncate PTE COUNT        loads COUNT prefixes of the program, evenly spaced
//   runner flip PTE END STEP SEED    loads, and runs, copies with one of the first END bytes
//                                    changed, every STEP-th in turn; END 0: all
//   runner invert PTE COUNT IN       loads, and runs, copies with one of COUNT evenly spaced bytes
//                                    inverted: `refused`, `failed`, or output `same` or `other`
//
// Facts come out as `key value` lines, mutations as `error count` lines.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/laid.hpp"
#include "runtime/exec/method.hpp"
#include "tests/runtime/laid.hpp"

namespace {

constexpr size_t kAlignment = 16;
// Apart from the exit codes of the sanitizers.
constexpr int kRefused = 3;

void copy(std::span<std::byte> to, const std::vector<char>& from) {
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

// Kernels that only tests have, with the arguments of dequantize_per_tensor: one that needs
// scratch, one that fails when it runs.
constexpr uint32_t kScratchBytes = 1000;
rt::Error prepare_scratch(rt::Args& args, rt::Needs& needs) {
  needs.temporary_bytes = kScratchBytes;
  return args.match("tsiiiio=");
}
rt::Error run_scratch(const rt::Args& args, std::span<std::byte> temporary) {
  if (temporary.size() != kScratchBytes) return rt::Error::kArenaTooSmall;
  if (reinterpret_cast<uintptr_t>(temporary.data()) % kAlignment != 0) {
    return rt::Error::kTensorMisaligned;
  }
  std::memset(temporary.data(), 0, temporary.size());
  std::memset(args.tensor(6).data(), 0, args.tensor(6).nbytes());
  return rt::Error::kOk;
}
RT_KERNEL("test::scratch.out", prepare_scratch, run_scratch);

rt::Error prepare_failing(rt::Args& args, rt::Needs&) { return args.match("tsiiiio="); }
rt::Error run_failing(const rt::Args&, std::span<std::byte>) { return rt::Error::kArgumentValue; }
RT_KERNEL("test::failing.out", prepare_failing, run_failing);

// `bytes` bytes that start `skew` after a multiple of 16.
class Block {
 public:
  Block(size_t bytes, size_t skew) : bytes_(bytes), skew_(skew) {
    void* start = nullptr;
    if (posix_memalign(&start, kAlignment, bytes + skew) != 0) std::abort();
    start_.reset(static_cast<std::byte*>(start));
    std::memset(start, 0xA5, bytes + skew);
  }
  std::span<std::byte> span() { return {start_.get() + skew_, bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* start) const { std::free(start); }
  };
  size_t bytes_, skew_;
  std::unique_ptr<std::byte, Free> start_;
};

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void print_failure(const rt::Failure& why) {
  std::printf("error %s\n", rt::error_name(why.error));
  std::printf("instruction %d\nvalue %d\n", why.instruction, why.value);
  if (why.operator_name != nullptr) {
    std::printf("operator %.*s.%.*s\n", static_cast<int>(why.operator_name_bytes),
                why.operator_name, static_cast<int>(why.operator_overload_bytes),
                why.operator_overload);
  }
  std::printf("have %u\nneed %u\n", why.have_bytes, why.need_bytes);
}

// Loads with the arena that the program asks for.
rt::Error load_with_need(std::span<const std::byte> pte, std::string_view method, size_t skew,
                         std::unique_ptr<Block>& arena, rt::Method& out, rt::Failure& why) {
  arena = std::make_unique<Block>(0, skew);
  rt::Error error = rt::Method::load(pte, method, arena->span(), out, why);
  for (int i = 0; i < 2 && error == rt::Error::kArenaTooSmall; ++i) {
    if (why.need_bytes > size_t{64} << 20) break;  // a changed size; the host has no need to try
    arena = std::make_unique<Block>(why.need_bytes, skew);
    error = rt::Method::load(pte, method, arena->span(), out, why);
  }
  return error;
}

// What was loaded with every check once more from tables, into an arena of its own of just the size
// that it needs, with its inputs from the files.
// @return what differs: the method, or the bytes of an output; empty if nothing does.
std::string laid_difference(std::span<const std::byte> pte, std::span<std::byte> checked_arena,
                            std::string_view name, rt::Method& checked, const char* tables_path,
                            std::span<char*> inputs) {
  const std::vector<char> tables = read_file(tables_path);
  const size_t tables_begin = (pte.size() + kAlignment - 1) / kAlignment * kAlignment;
  Block both(tables_begin + tables.size(), 0);
  std::memcpy(both.span().data(), pte.data(), pte.size());
  copy(both.span().subspan(tables_begin), tables);
  const std::byte* const program = both.span().data();
  auto& header = *reinterpret_cast<rt::Tables*>(both.span().data() + tables_begin);
  if (header.bytes != tables.size()) return "bytes of the tables";
  header.temporary_bytes = checked.memory().temporary_bytes;  // which the host asks that load

  rt::LaidMethod method;
  Block none(0, 0);
  if (method.load(program, header, none.span()) == rt::Error::kOk &&
      method.memory().needed_bytes != 0) {
    return "need of an arena";
  }
  const uint32_t need = method.memory().needed_bytes;
  Block small(need == 0 ? 0 : need - 1, 0);
  if (need != 0 && method.load(program, header, small.span()) != rt::Error::kArenaTooSmall) {
    return "need of an arena";
  }
  Block arena(need, 0);
  if (method.load(program, header, arena.span()) != rt::Error::kOk) return "load";
  const rt::MemoryUse use = method.memory();
  if (use.planned_bytes != checked.memory().planned_bytes ||
      use.temporary_bytes != checked.memory().temporary_bytes ||
      use.method_bytes > checked.memory().method_bytes) {
    return "memory";
  }
  const auto checked_skew = -reinterpret_cast<uintptr_t>(checked_arena.data()) % kAlignment;
  std::string found =
      difference(checked, {pte.data(), pte.size(), checked_arena.data() + checked_skew}, name,
                 method, {program, pte.size(), arena.span().data()});
  if (!found.empty()) return found;
  for (uint32_t i = 0; i < method.input_count() && i < inputs.size(); ++i) {
    copy({method.input(i).data(), method.input(i).nbytes()}, read_file(inputs[i]));
  }
  if (inputs.empty() && method.input_count() != 0) return {};  // what its arena held is no input
  if (method.execute() != rt::Error::kOk) return "execute";
  for (uint32_t i = 0; i < method.output_count(); ++i) {
    const rt::Tensor& a = method.output(i);
    if (std::memcmp(a.data(), checked.output(i).data(), a.nbytes()) != 0) return "output";
  }
  return {};
}

int run(int argc, char** argv) {
  if (argc < 9) return 2;
  const std::vector<char> file = read_file(argv[2]);
  const long arena_bytes = std::atol(argv[4]);
  const auto arena_skew = static_cast<size_t>(std::atol(argv[5]));
  Block pte(file.size(), static_cast<size_t>(std::atol(argv[6])));
  copy(pte.span(), file);

  std::unique_ptr<Block> arena;
  rt::Method method;
  rt::Failure why;
  rt::Error error;
  if (arena_bytes < 0) {
    error = load_with_need(pte.span(), argv[3], arena_skew, arena, method, why);
  } else {
    arena = std::make_unique<Block>(static_cast<size_t>(arena_bytes), arena_skew);
    error = rt::Method::load(pte.span(), argv[3], arena->span(), method, why);
  }
  if (error != rt::Error::kOk) {
    print_failure(why);
    return kRefused;
  }
  const rt::MemoryUse use = method.memory();
  std::printf("planned %u\nmethod %u\ntemporary %u\narena %u\nneeded %u\n", use.planned_bytes,
              use.method_bytes, use.temporary_bytes, use.arena_bytes, use.needed_bytes);
  std::printf("instructions %u\ninputs %u\noutputs %u\n", method.instruction_count(),
              method.input_count(), method.output_count());
  for (int i = 9; i < argc; ++i) {
    const std::vector<char> input = read_file(argv[i]);
    rt::Tensor& tensor = method.input(static_cast<uint32_t>(i - 9));
    if (input.size() != tensor.nbytes()) {
      std::fprintf(stderr, "input %d has %zu bytes, want %u\n", i - 9, input.size(),
                   tensor.nbytes());
      return 2;
    }
    std::memcpy(tensor.data(), input.data(), input.size());
  }
  rt::InstructionHook hook = {
      [](void*, uint32_t i) { std::printf("before %u\n", i); },
      [](void*, uint32_t i) { std::printf("after %u\n", i); },
      nullptr,
  };
  if (method.execute(why, &hook) != rt::Error::kOk) {
    print_failure(why);
    return kRefused;
  }
  if (std::string_view(argv[7]) != "-") {
    const std::string other = laid_difference(pte.span(), arena->span(), argv[3], method, argv[7],
                                              {argv + 9, static_cast<size_t>(argc - 9)});
    if (!other.empty()) {
      std::fprintf(stderr, "from tables it is another method: %s\n", other.c_str());
      return 2;
    }
  }
  std::ofstream out(argv[8], std::ios::binary);
  for (uint32_t i = 0; i < method.output_count(); ++i) {
    const rt::Tensor& tensor = method.output(i);
    out.write(reinterpret_cast<const char*>(tensor.data()), tensor.nbytes());
  }
  return 0;
}

// Loads a damaged program, and runs it if it still loads.
const char* attempt(std::span<const std::byte> pte) {
  std::unique_ptr<Block> arena;
  rt::Method method;
  rt::Failure why;
  if (load_with_need(pte, "forward", 0, arena, method, why) != rt::Error::kOk) {
    return rt::error_name(why.error);
  }
  for (uint32_t i = 0; i < method.input_count(); ++i) {
    std::memset(method.input(i).data(), 0x11, method.input(i).nbytes());
  }
  const rt::Error error = method.execute(why);
  return error == rt::Error::kOk ? "ok" : rt::error_name(error);
}

void print_counts(const std::map<std::string, int>& counts) {
  for (const auto& [name, count] : counts) std::printf("%s %d\n", name.c_str(), count);
}

int truncate(char** argv) {
  const std::vector<char> file = read_file(argv[2]);
  const auto count = static_cast<size_t>(std::atol(argv[3]));
  std::map<std::string, int> counts;
  for (size_t i = 0; i < count; ++i) {
    Block pte(file.size() * i / count, 0);
    copy(pte.span(), file);
    ++counts[attempt(pte.span())];
  }
  print_counts(counts);
  return 0;
}

int flip(char** argv) {
  const std::vector<char> file = read_file(argv[2]);
  const auto given_end = static_cast<size_t>(std::atol(argv[3]));
  const size_t end = given_end == 0 ? file.size() : given_end;
  const auto step = static_cast<size_t>(std::atol(argv[4]));
  auto random = static_cast<uint32_t>(std::atol(argv[5]));
  std::map<std::string, int> counts;
  Block pte(file.size(), 0);
  for (size_t at = random % step; at < end; at += step) {
    copy(pte.span(), file);
    random = random * 1664525U + 1013904223U;  // Numerical Recipes' generator
    const auto change = static_cast<unsigned char>(random >> 24 | 1U);
    pte.span()[at] ^= std::byte{change};
    ++counts[attempt(pte.span())];
  }
  print_counts(counts);
  return 0;
}

// @return the outputs, and what an attempt came to.
std::vector<char> outcome(std::span<const std::byte> pte, const std::vector<char>& input,
                          const char*& what) {
  std::unique_ptr<Block> arena;
  rt::Method method;
  rt::Failure why;
  std::vector<char> outputs;
  what = "refused";
  if (load_with_need(pte, "forward", 0, arena, method, why) != rt::Error::kOk) return outputs;
  what = "failed";
  for (uint32_t i = 0; i < method.input_count(); ++i) {
    rt::Tensor& tensor = method.input(i);
    if (tensor.nbytes() != input.size()) return outputs;  // the firmware refuses such a sample
    copy({tensor.data(), tensor.nbytes()}, input);
  }
  if (method.execute(why) != rt::Error::kOk) return outputs;
  what = "ran";
  for (uint32_t i = 0; i < method.output_count(); ++i) {
    const auto* data = reinterpret_cast<const char*>(method.output(i).data());
    outputs.insert(outputs.end(), data, data + method.output(i).nbytes());
  }
  return outputs;
}

int invert(char** argv) {
  const std::vector<char> file = read_file(argv[2]);
  const auto count = static_cast<size_t>(std::atol(argv[3]));
  const std::vector<char> input = read_file(argv[4]);
  const char* what = nullptr;
  Block pte(file.size(), 0);
  copy(pte.span(), file);
  const std::vector<char> right = outcome(pte.span(), input, what);
  std::map<std::string, int> counts;
  for (size_t i = 0; i < count; ++i) {
    copy(pte.span(), file);
    pte.span()[file.size() * i / count] ^= std::byte{0xFF};
    const std::vector<char> outputs = outcome(pte.span(), input, what);
    if (std::string_view(what) == "ran") what = outputs == right ? "same" : "other";
    ++counts[what];
  }
  print_counts(counts);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "run") return run(argc, argv);
  if (mode == "truncate" && argc == 4) return truncate(argv);
  if (mode == "flip" && argc == 6) return flip(argv);
  if (mode == "invert" && argc == 5) return invert(argv);
  std::fprintf(stderr, "usage: see the top of runner.cpp\n");
  return 2;
}
