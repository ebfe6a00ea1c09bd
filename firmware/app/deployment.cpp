// The deployment image: what a product would ship. One program's kernels, the runtime, start-up; it
// loads the program that lies in the slot and executes it twice. Instead of the app's lines it
// sends one report in binary (docs/deployment.md): some two hundred bytes of code, counted like all
// else. The program is one that the lab image loaded with every check and that the host laid out,
// so nothing of it is checked again, but its bytes are: those that were checked, and no others.
#include <algorithm>
#include <array>
#include <span>

#include "firmware/app/bundle.hpp"
#include "firmware/port/port.hpp"
#include "runtime/exec/laid.hpp"

namespace fw {
namespace {

// Why a bundle is not taken, before anything is loaded.
enum class Refusal : uint32_t {
  kNone,
  kUnmarked,  // or without tables
  kChanged,   // program or tables are not the bytes that were checked
  kVersion,   // of the tables
  kProgram,   // the tables are another program's
  kKernels,   // or for an image with other kernels
};

struct Report {
  char magic[4] = {'S', 'H', 'I', 'P'};
  Refusal refusal = Refusal::kNone;
  uint32_t loaded = 0;        // 1, or what follows is unset
  uint32_t executed = 0;      // executes that worked, 0 to 2
  uint32_t have_bytes = 0;    // of the arena
  uint32_t needed_bytes = 0;  // of it
  uint64_t load_ticks = 0;
  uint64_t execute_ticks[2] = {};
  uint32_t overhead_ticks = 0;
  uint32_t planned_bytes = 0, method_bytes = 0, temporary_bytes = 0, stack_bytes = 0;
  uint32_t output_bytes = 0;  // that follow
};
static_assert(sizeof(Report) == 72);

void send(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) putc(static_cast<char>(byte));
}

// CRC-32 as in crc32.cpp, by a table of nibbles: 64 bytes instead of 1 KB.
constexpr std::array<uint32_t, 16> make_table() {
  std::array<uint32_t, 16> table{};
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 4; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320 : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 16> kTable = make_table();

// @param crc of the bytes before these.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t crc = 0) {
  crc = ~crc;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    crc = (crc >> 4) ^ kTable[crc & 15];
    crc = (crc >> 4) ^ kTable[crc & 15];
  }
  return ~crc;
}

// The host checked the bundle against the slot before it was written.
const BundleHeader& header() { return *reinterpret_cast<const BundleHeader*>(model_slot().data()); }

const std::byte* program() { return model_slot().data() + header().pte_offset; }

const rt::Tables& tables() {
  const uint32_t begin = (header().pte_bytes + 15) / 16 * 16;
  return *reinterpret_cast<const rt::Tables*>(program() + begin);
}

// The names of the image's kernels, each with its NUL.
uint32_t kernels_crc32() {
  uint32_t crc = 0;
  for (const rt::Kernel& kernel : rt::all_kernels()) {
    const char* end = kernel.name;
    while (*end++ != '\0') {
    }
    crc = crc32(std::as_bytes(std::span(kernel.name, end)), crc);
  }
  return crc;
}

Refusal confirm() {
  if ((header().flags & kFlagVerified) == 0) return Refusal::kUnmarked;
  const auto* const begin = reinterpret_cast<const std::byte*>(&tables());
  const uint32_t program_crc = crc32(std::span(program(), header().pte_bytes));
  // What lies between them is zero, and of no matter.
  if (crc32(std::span(begin, header().tables_bytes), program_crc) != header().verified_crc32) {
    return Refusal::kChanged;
  }
  if (tables().magic != rt::kTablesMagic || tables().version != rt::kTablesVersion) {
    return Refusal::kVersion;
  }
  if (tables().program_crc32 != program_crc) return Refusal::kProgram;
  if (tables().kernels_crc32 != kernels_crc32()) return Refusal::kKernels;
  return Refusal::kNone;
}

constinit rt::LaidMethod method;

bool execute(const std::byte* sample) {
  for (uint32_t i = 0; i < method.input_count(); ++i) {
    rt::Tensor& input = method.input(i);
    std::copy_n(sample, input.nbytes(), input.data());
    sample += (input.nbytes() + 15) / 16 * 16;
  }
  counter_restart();
  return method.execute() == rt::Error::kOk;
}

}  // namespace

int app_main() {
  Report report{};
  counter_restart();
  report.overhead_ticks = static_cast<uint32_t>(counter_read());
  report.refusal = confirm();
  if (report.refusal == Refusal::kNone) {
    const std::span<std::byte> memory = arena();
    counter_restart();
    const bool loaded = method.load(program(), tables(), memory) == rt::Error::kOk;
    report.load_ticks = counter_read();
    report.loaded = loaded ? 1 : 0;
    const rt::MemoryUse use = method.memory();
    report.have_bytes = use.arena_bytes;
    report.planned_bytes = use.planned_bytes;
    report.method_bytes = use.method_bytes;
    report.temporary_bytes = use.temporary_bytes;
    report.needed_bytes = use.needed_bytes;
  }
  if (report.loaded != 0) {
    for (uint64_t& ticks : report.execute_ticks) {
      if (!execute(model_slot().data() + header().samples_offset)) break;
      ticks = counter_read();
      ++report.executed;
    }
    for (uint32_t i = 0; i < method.output_count(); ++i) {
      report.output_bytes += method.output(i).nbytes();
    }
  }
  report.stack_bytes = stack_use().used_bytes;
  send(std::as_bytes(std::span(&report, 1)));
  for (uint32_t i = 0; report.executed == 2 && i < method.output_count(); ++i) {
    send({method.output(i).data(), method.output(i).nbytes()});
  }
  return report.executed == 2 ? kExitOk : kExitError;
}

void app_fault(const Fault&) {}

}  // namespace fw
