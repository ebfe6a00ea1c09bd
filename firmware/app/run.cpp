#include "firmware/app/run.hpp"

#include <algorithm>

#include "firmware/app/crc32.hpp"
#include "firmware/app/engine.hpp"
#include "firmware/app/guards.hpp"
#include "firmware/app/inject.hpp"
#include "firmware/app/mailbox.hpp"
#include "firmware/app/neighbours.hpp"
#include "firmware/app/wire.hpp"
#include "firmware/port/port.hpp"

namespace fw {
namespace {

constexpr size_t kInputAlignment = 16;

size_t padded(size_t bytes) {
  return (bytes + kInputAlignment - 1) / kInputAlignment * kInputAlignment;
}

bool refuse(const engine::Refusal& why, std::string_view code, std::string_view op = {}) {
  Line line("error");
  line.text("code", code);
  if (why.instruction >= 0) line.signed_number("instruction", why.instruction);
  if (why.value >= 0) line.signed_number("value", why.value);
  if (!op.empty()) line.text("op", op);
  if (why.have_bytes != 0 || why.need_bytes != 0) {
    line.number("have", why.have_bytes).number("need", why.need_bytes);
  }
  line.send();
  return false;
}

bool refuse(const engine::Refusal& why) {
  return refuse(why, engine::refusal_code(), engine::refusal_operator());
}

// Of an inference: copying its inputs in, executing, reading its outputs out.
struct InferenceTicks {
  uint64_t pre, execute, post;
};

void send_measure(std::string_view name, uint32_t i, const InferenceTicks& ticks) {
  Line("measure")
      .text("name", name)
      .number("i", i)
      .number("ticks", ticks.execute)
      .number("pre", ticks.pre)
      .number("post", ticks.post)
      .send();
}

void send_pool(std::string_view name, uint32_t have, uint32_t used) {
  Line("pool").text("name", name).number("have", have).number("used", used).send();
}

Guards guards;

void send_guard(const Neighbours& neighbours) {
  Line line("guard");
  line.number("bytes", guards.behind().size()).number("damaged", Guards::damaged(guards.behind()));
  line.number("front", guards.front().size());
  line.number("front_damaged", Guards::damaged(guards.front()));
  line.number("fixed", guards.fixed().size());
  line.number("fixed_damaged", guards.fixed_holds() ? 0 : 1);
  line.number("beside", neighbours.bytes()).number("beside_damaged", neighbours.damaged());
  if (neighbours.first() >= 0) line.signed_number("i", neighbours.first());
  line.send();
}

// Not inlined, like others that are done once: their frames would lie below every inference.
[[gnu::noinline]] bool load(const Bundle& bundle) {
  const uint32_t limit = bundle.header->arena_limit_bytes;
  const std::span<std::byte> memory = limit == 0 ? guarded_arena() : guarded_arena().first(limit);
  engine::Refusal why;
  counter_restart();
  const bool loaded = engine::load(bundle.pte, bundle.method, memory, why);
  const uint64_t ticks = counter_read();
  if (!loaded) return refuse(why);
  Line("load").number("ticks", ticks).number("instructions", engine::instruction_count()).send();
  const engine::Memory use = engine::memory();
  guards.set(memory, use.needed_bytes);
  send_pool("arena", use.arena_bytes, use.needed_bytes);
  send_pool("planned", use.planned_bytes, use.planned_bytes);
  send_pool("method", use.method_bytes, use.method_bytes);
  send_pool("temporary", use.temporary_bytes, use.temporary_bytes);
  return true;
}

// The samples are the program's inputs one after another, each padded.
bool check_sample_size(const Bundle& bundle) {
  size_t need = 0;
  engine::for_each_input(
      [](void* sum, std::span<std::byte> input) {
        *static_cast<size_t*>(sum) += padded(input.size());
      },
      &need);
  if (need == bundle.header->sample_stride_bytes) return true;
  return refuse(
      {.have_bytes = bundle.header->sample_stride_bytes, .need_bytes = static_cast<uint32_t>(need)},
      "bundle-sample");
}

// What an inference does not write the host recognises: byte k of each output is kUnwritten ^ k
// before it. The plan may have put other tensors there, so a pattern that is gone proves nothing.
constexpr std::byte kUnwritten{0xA5};

void mark_outputs() {
  for (uint32_t i = 0; i < engine::output_count(); ++i) {
    const std::span<std::byte> output = engine::output_memory(i);
    for (size_t k = 0; k < output.size(); ++k) output[k] = kUnwritten ^ static_cast<std::byte>(k);
  }
}

// Before each execute: the memory plan may give the inputs' bytes to something else, outputs too.
void copy_inputs(std::span<const std::byte> sample) {
  engine::for_each_input(
      [](void* rest, std::span<std::byte> input) {
        auto& left = *static_cast<std::span<const std::byte>*>(rest);
        std::ranges::copy(left.first(input.size()), input.begin());
        left = left.subspan(padded(input.size()));
      },
      &sample);
}

void prepare(std::span<const std::byte> sample) {
  mark_outputs();
  copy_inputs(sample);
}

// What whoever uses the outputs does at least: read each byte of them once.
volatile uint8_t outputs_sum;

void read_outputs() {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < engine::output_count(); ++i) {
    for (const std::byte byte : engine::output(i)) sum += std::to_integer<uint8_t>(byte);
  }
  outputs_sum = sum;
}

bool measure(const Bundle& bundle, std::string_view name, uint32_t count, Inject inject) {
  for (uint32_t i = 0; i < count; ++i) {
    InferenceTicks ticks{};
    engine::Refusal why;
    mark_outputs();
    counter_restart();
    copy_inputs(bundle.sample(0));
    ticks.pre = counter_read();
    counter_restart();
    const bool executed = engine::execute(nullptr, why);
    ticks.execute = counter_read();
    inject_in_inference(inject);
    if (!executed) return refuse(why);
    counter_restart();
    read_outputs();
    ticks.post = counter_read();
    send_measure(name, i, ticks);
  }
  return true;
}

// The lines' names: `output` with the index of the output, `intermediate` with the instruction's.
struct Bulk {
  std::string_view kind;
  std::string_view end;
  std::string_view key;
};
constexpr Bulk kOutput{"output", "output_end", "index"};
constexpr Bulk kIntermediate{"intermediate", "intermediate_end", "i"};

void send_bulk(const Bulk& as, uint32_t sample, uint32_t index, std::span<const std::byte> bytes) {
  for (size_t offset = 0; offset < bytes.size(); offset += kOutputLineBytes) {
    const size_t count = std::min(kOutputLineBytes, bytes.size() - offset);
    Line(as.kind)
        .number("sample", sample)
        .number(as.key, index)
        .number("offset", offset)
        .base64("data", bytes.subspan(offset, count))
        .send();
  }
  Line(as.end)
      .number("sample", sample)
      .number(as.key, index)
      .number("bytes", bytes.size())
      .hex32("crc", crc32(bytes))
      .send();
}

void send_outputs(uint32_t sample) {
  for (uint32_t i = 0; i < engine::output_count(); ++i) {
    send_bulk(kOutput, sample, i, engine::output(i));
  }
}

bool run_sample(const Bundle& bundle, uint32_t sample) {
  prepare(bundle.sample(sample));
  engine::Refusal why;
  return engine::execute(nullptr, why) || refuse(why);
}

// Where the outputs begin among the lines, for those that are asked for again.
uint32_t outputs_line;

uint32_t sample_count(const Bundle& bundle) {
  return (bundle.header->flags & kFlagAllSamples) != 0 ? bundle.header->sample_count : 1;
}

// Without the flag, sample 0 alone is sent; its outputs are there, it was what was measured.
bool send_all_outputs(const Bundle& bundle) {
  outputs_line = lines_sent();
  for (uint32_t i = 0; i < sample_count(bundle); ++i) {
    if ((bundle.header->flags & kFlagAllSamples) != 0 && !run_sample(bundle, i)) return false;
    send_outputs(i);
  }
  return true;
}

// Each output takes its data's lines and the one that ends it.
uint32_t lines_of_sample() {
  size_t lines = 0;
  for (uint32_t i = 0; i < engine::output_count(); ++i) {
    lines += (engine::output(i).size() + kOutputLineBytes - 1) / kOutputLineBytes + 1;
  }
  return static_cast<uint32_t>(lines);
}

// The line is sent between two windows, so nothing has to be stored; on silicon it disturbs the
// caches, which is why these ticks never stand for the latency.
bool time_operators(const Bundle& bundle) {
  const engine::Hook hook = {
      .before = [](void*, uint32_t) { counter_restart(); },
      .after =
          [](void*, uint32_t instruction) {
            const uint64_t ticks = counter_read();
            Line("op").number("i", instruction).number("ticks", ticks).number("run", 0).send();
          },
      .context = nullptr,
  };
  prepare(bundle.sample(0));
  engine::Refusal why;
  return engine::execute(&hook, why) || refuse(why);
}

uint32_t intermediates_line;  // likewise

// Each sample once more, sending what every instruction wrote before another may overwrite it.
bool send_intermediates(const Bundle& bundle) {
  for (uint32_t sample = 0; sample < sample_count(bundle); ++sample) {
    const engine::Hook hook = {
        .before = nullptr,
        .after =
            [](void* context, uint32_t instruction) {
              send_bulk(kIntermediate, *static_cast<const uint32_t*>(context), instruction,
                        engine::result(instruction));
            },
        .context = &sample,
    };
    prepare(bundle.sample(sample));
    engine::Refusal why;
    if (!engine::execute(&hook, why)) return refuse(why);
  }
  return true;
}

// Lines whose arrival the host times: three, and three more two seconds later, of which it takes
// those that came with the least delay.
[[gnu::noinline]] void send_clock() {
  constexpr uint32_t kTenthsOfSecond[] = {0, 1, 2, 24, 25, 26};
  counter_restart();
  uint32_t i = 0;
  for (const uint32_t tenths : kTenthsOfSecond) {
    const uint64_t due = uint64_t{counter_hz()} * tenths / 10;
    uint64_t ticks;
    while ((ticks = counter_read()) < due) {
      // Not the counter alone all the time: an emulator is slow at it, and must keep up.
      for (uint32_t k = 0; k < 256; ++k) asm volatile("");
    }
    Line("clock").number("i", i++).number("ticks", ticks).send();
  }
}

// Once more, with an eye on what lies around each instruction's output; then, whether the words
// around the program's memory have outlived the run.
[[gnu::noinline]] bool check_memory(const Bundle& bundle, Inject inject) {
  struct Watch {
    Neighbours neighbours;
    Inject inject;
  } watch{{}, inject};
  const engine::Hook hook = {
      .before = [](void* self, uint32_t i) { static_cast<Watch*>(self)->neighbours.before(i); },
      .after =
          [](void* self, uint32_t i) {
            auto& [neighbours, fault] = *static_cast<Watch*>(self);
            if (i + 1 == engine::instruction_count()) inject_write(fault, guards, i);
            neighbours.after(i);
          },
      .context = &watch,
  };
  prepare(bundle.sample(0));
  engine::Refusal why;
  if (!engine::execute(&hook, why)) return refuse(why);
  send_guard(watch.neighbours);
  return true;
}

}  // namespace

bool run_bundle(const Bundle& bundle) {
  const BundleHeader& header = *bundle.header;
  const Inject inject{header.inject};
  if (!load(bundle) || !check_sample_size(bundle)) return false;
  if (!measure(bundle, "latency_first", 1, inject) ||
      !measure(bundle, "latency_warmup", header.warmup, Inject::kNone) ||
      !measure(bundle, "latency", header.iterations, Inject::kNone)) {
    return false;
  }
  if (inject == Inject::kStopWithoutEnd) {
    while (asked_to_stay()) idle();  // a board does not end
    exit(kExitOk);
  }
  if ((header.flags & kFlagOperatorTicks) != 0 && !time_operators(bundle)) return false;
  if ((header.flags & kFlagClockCheck) != 0) send_clock();
  if (asked_to_stay()) {
    Line("measured").send();
    wait_to_go_on(send_last_again);
  }
  if (!send_all_outputs(bundle)) return false;
  intermediates_line = lines_sent();
  if ((header.flags & kFlagIntermediates) != 0 && !send_intermediates(bundle)) return false;
  return check_memory(bundle, inject);
}

void send_outputs_again(const Bundle& bundle, uint32_t first, uint32_t last) {
  const uint32_t lines = lines_of_sample();
  for (uint32_t i = 0; i < sample_count(bundle); ++i) {
    const uint32_t begin = outputs_line + i * lines;
    if (last < begin || first >= begin + lines) continue;
    // The same inputs give the same outputs, so they need not have been kept.
    const OnlyLines only(begin, first, last);
    if (run_sample(bundle, i)) send_outputs(i);
  }
  if ((bundle.header->flags & kFlagIntermediates) != 0 && last >= intermediates_line) {
    const OnlyLines only(intermediates_line, first, last);
    // They came once: what refused now would have refused then.
    static_cast<void>(send_intermediates(bundle));
  }
}

}  // namespace fw
