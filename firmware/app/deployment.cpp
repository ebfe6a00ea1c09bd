// The deployment image: what a product would ship. One program's kernels, the runtime, start-up; it
// loads the program that lies in the slot and executes it twice. Instead of the app's lines it
// sends one report in binary (docs/deployment.md): some two hundred bytes of code, counted like all
// else. The program is one that the lab image loaded with every check, so it is not checked again,
// but its bytes are: those that were checked, and no others.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "firmware/app/bundle.hpp"
#include "firmware/app/engine.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

struct Report {
  char magic[4] = {'S', 'H', 'I', 'P'};
  uint32_t loaded = 0;    // 1, or what follows is unset
  uint32_t executed = 0;  // executes that worked, 0 to 2
  uint32_t have_bytes = 0, need_bytes = 0;
  uint32_t overhead_ticks = 0;
  uint64_t load_ticks = 0;
  uint64_t execute_ticks[2] = {};
  uint32_t planned_bytes = 0, method_bytes = 0, temporary_bytes = 0, stack_bytes = 0;
  uint32_t output_bytes = 0;  // that follow
  uint32_t needed_bytes = 0;  // of the arena
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

uint32_t crc32(std::span<const std::byte> bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    crc = (crc >> 4) ^ kTable[crc & 15];
    crc = (crc >> 4) ^ kTable[crc & 15];
  }
  return ~crc;
}

// The host checked the bundle against the slot before it was written.
const BundleHeader& header() { return *reinterpret_cast<const BundleHeader*>(model_slot().data()); }

bool execute(const std::byte* sample, engine::Refusal& why) {
  for (uint32_t i = 0; i < engine::input_count(); ++i) {
    const std::span<std::byte> input = engine::input(i);
    std::copy_n(sample, input.size(), input.begin());
    sample += (input.size() + 15) / 16 * 16;
  }
  counter_restart();
  return engine::execute(nullptr, why);
}

}  // namespace

int app_main() {
  const std::span<const std::byte> slot = model_slot();
  const auto* const method_end = std::ranges::find(header().method, '\0');
  const std::string_view method(header().method, method_end);
  Report report{};
  counter_restart();
  report.overhead_ticks = static_cast<uint32_t>(counter_read());
  engine::Refusal why;
  const std::span<const std::byte> pte = slot.subspan(header().pte_offset, header().pte_bytes);
  if ((header().flags & kFlagVerified) != 0 && crc32(pte) == header().verified_crc32) {
    counter_restart();
    const bool loaded = engine::load_verified(
        pte, method, arena(), {header().verified_needed_bytes, header().verified_temporary_bytes},
        why);
    report.load_ticks = counter_read();
    report.loaded = loaded ? 1 : 0;
  }
  if (report.loaded != 0) {
    for (uint64_t& ticks : report.execute_ticks) {
      if (!execute(slot.data() + header().samples_offset, why)) break;
      ticks = counter_read();
      ++report.executed;
    }
    const engine::Memory use = engine::memory();
    report.planned_bytes = use.planned_bytes;
    report.method_bytes = use.method_bytes;
    report.temporary_bytes = use.temporary_bytes;
    report.needed_bytes = use.needed_bytes;
    for (uint32_t i = 0; i < engine::output_count(); ++i) {
      report.output_bytes += static_cast<uint32_t>(engine::output(i).size());
    }
  }
  report.have_bytes = why.have_bytes;
  report.need_bytes = why.need_bytes;
  report.stack_bytes = stack_use().used_bytes;
  send(std::as_bytes(std::span(&report, 1)));
  for (uint32_t i = 0; report.executed == 2 && i < engine::output_count(); ++i) {
    send(engine::output(i));
  }
  return report.executed == 2 ? kExitOk : kExitError;
}

void app_fault(const Fault&) {}

}  // namespace fw
