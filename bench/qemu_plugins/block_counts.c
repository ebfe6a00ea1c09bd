// A QEMU TCG plugin that counts: executions, taken exits and entries by jump of every translation
// block, by region.
//
// It knows no timing: bench/estimate prices its dump. Arguments (all addresses hexadecimal):
//   out=FILE           where the dump goes
//   mark=ADDR:CODE     executing the instruction at ADDR begins a new region, labelled CODE (a
//   decimal above 0) ignore=LO-HI       blocks of [LO, HI) are counted apart (the handler that
//   widens the counter) range=LO-HI        reads and writes of [LO, HI) are counted by region, and
//   reads that leave a 32-byte line
// Dump, one item a line, docs/estimate.md has the grammar:
//   dump 1 / block ID VA INSNS BYTES / region SEQ CODE INSNS IGNORED / count BLOCK RUNS TAKEN
//   ENTERED / memory RANGE READS WRITES LINES / end INSNS IGNORED BLOCKS REGIONS MENDED
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin_api.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

enum { kMaxMarks = 16, kMaxRanges = 4, kLineBytes = 32 };

typedef struct Block {
  uint64_t start, end;
  uint64_t runs, taken, entered;  // of the current region
  uint32_t id, insns;
  bool ignored;
  bool touched;  // listed in the current region
} Block;

typedef struct {
  uint64_t low, high, reads, writes, lines, last_line;
} Range;

static struct {
  uint64_t address;
  uint32_t code;
} marks[kMaxMarks];
static unsigned mark_count;
static Range ranges[kMaxRanges];
static unsigned range_count;
static uint64_t ignore_low, ignore_high;

static FILE* out;
static Block nowhere = {.end = UINT64_MAX};  // before the first block
static Block* previous = &nowhere;
static Block** touched;
static size_t touched_count, touched_capacity;
static uint32_t block_count, region_count, region_code;
static uint64_t region_insns, region_ignored, total_insns, total_ignored, mended;

static void* checked(void* memory) {
  if (memory == NULL) {
    fprintf(stderr, "block_counts: out of memory\n");
    exit(70);
  }
  return memory;
}

static void touch(Block* block) {
  if (block->touched) return;
  block->touched = true;
  if (touched_count == touched_capacity) {
    touched_capacity = touched_capacity == 0 ? 4096 : 2 * touched_capacity;
    touched = checked(realloc(touched, touched_capacity * sizeof *touched));
  }
  touched[touched_count++] = block;
}

static void end_region(void) {
  fprintf(out, "region %u %u %" PRIu64 " %" PRIu64 "\n", region_count, region_code, region_insns,
          region_ignored);
  for (size_t i = 0; i < touched_count; ++i) {
    Block* block = touched[i];
    fprintf(out, "count %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", block->id, block->runs,
            block->taken, block->entered);
    block->runs = block->taken = block->entered = 0;
    block->touched = false;
  }
  touched_count = 0;
  for (unsigned i = 0; i < range_count; ++i) {
    Range* range = &ranges[i];
    fprintf(out, "memory %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, range->reads, range->writes,
            range->lines);
    range->reads = range->writes = range->lines = 0;
    range->last_line = UINT64_MAX;
  }
  ++region_count;
  total_insns += region_insns;
  total_ignored += region_ignored;
  region_insns = region_ignored = 0;
}

static void on_block(unsigned vcpu, void* data) {
  (void)vcpu;
  Block* block = data;
  if (block->ignored) {
    region_ignored += block->insns;  // an interrupt: the block before it goes on afterwards
    return;
  }
  touch(block);
  ++block->runs;
  region_insns += block->insns;
  if (previous->end != block->start) {
    if (previous != &nowhere) {
      touch(previous);
      ++previous->taken;
    }
    ++block->entered;
  }
  previous = block;
}

static void on_mark(unsigned vcpu, void* data) {
  (void)vcpu;
  end_region();
  region_code = (uint32_t)(uintptr_t)data;
}

static void on_memory(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)vcpu;
  (void)data;
  for (unsigned i = 0; i < range_count; ++i) {
    Range* range = &ranges[i];
    if (address < range->low || address >= range->high) continue;
    if (qemu_plugin_mem_is_store(info)) {
      ++range->writes;
    } else {
      ++range->reads;
      range->lines += address / kLineBytes != range->last_line;
      range->last_line = address / kLineBytes;
    }
    return;
  }
}

// Copy the instruction's bytes to `to`. @return how many they are by the encoding (Armv7-M ARM,
// A5.1): QEMU 7.2 says 2 too many of the one before a 32-bit instruction that straddles a 1 KiB
// page, having peeked at its first half.
static size_t instruction_bytes(const struct qemu_plugin_insn* insn, uint8_t to[4]) {
  const uint8_t* data = qemu_plugin_insn_data(insn);
  const size_t told = qemu_plugin_insn_size(insn);
  const size_t size = (data[1] >> 3) >= 0x1D ? 4 : 2;
  if (told != size) ++mended;
  if (told < size) {
    data = qemu_plugin_insn_haddr(insn);
    if (data == NULL) {
      fprintf(stderr, "block_counts: an instruction's bytes cannot be read\n");
      exit(70);
    }
  }
  memcpy(to, data, size);
  return size;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  Block* block = checked(calloc(1, sizeof *block));
  block->start = block->end = qemu_plugin_tb_vaddr(tb);
  block->insns = (uint32_t)qemu_plugin_tb_n_insns(tb);
  block->id = block_count++;
  block->ignored = block->start >= ignore_low && block->start < ignore_high;
  fprintf(out, "block %u %" PRIx64 " %u ", block->id, block->start, block->insns);
  for (uint32_t i = 0; i < block->insns; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const uint64_t address = qemu_plugin_insn_vaddr(insn);
    uint8_t bytes[4];
    const size_t size = instruction_bytes(insn, bytes);
    for (size_t b = 0; b < size; ++b) fprintf(out, "%02x", bytes[b]);
    block->end = address + size;
    for (unsigned m = 0; m < mark_count; ++m) {
      if (marks[m].address != address) continue;
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
                                             (void*)(uintptr_t)marks[m].code);
    }
    if (range_count != 0) {
      qemu_plugin_register_vcpu_mem_cb(insn, on_memory, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       NULL);
    }
  }
  fputc('\n', out);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  end_region();
  fprintf(out, "end %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 "\n", total_insns, total_ignored,
          block_count, region_count, mended);
  if (fclose(out) != 0) perror("block_counts");
}

static bool parse_span(const char* text, uint64_t* low, uint64_t* high) {
  char* rest;
  *low = strtoull(text, &rest, 16);
  if (*rest != '-') return false;
  *high = strtoull(rest + 1, &rest, 16);
  return *rest == '\0' && *low < *high;
}

static bool parse_mark(const char* text) {
  if (mark_count == kMaxMarks) return false;
  char* rest;
  marks[mark_count].address = strtoull(text, &rest, 16) & ~UINT64_C(1);
  if (*rest != ':') return false;
  marks[mark_count].code = (uint32_t)strtoul(rest + 1, &rest, 10);
  return *rest == '\0' && marks[mark_count++].code != 0;
}

static bool parse_range(const char* text) {
  if (range_count == kMaxRanges) return false;
  Range* range = &ranges[range_count++];
  range->last_line = UINT64_MAX;
  return parse_span(text, &range->low, &range->high);
}

static bool parse(const char* argument) {
  if (strncmp(argument, "out=", 4) == 0) {
    out = fopen(argument + 4, "w");
    if (out == NULL) perror(argument + 4);
    return out != NULL;
  }
  if (strncmp(argument, "mark=", 5) == 0) return parse_mark(argument + 5);
  if (strncmp(argument, "ignore=", 7) == 0)
    return parse_span(argument + 7, &ignore_low, &ignore_high);
  if (strncmp(argument, "range=", 6) == 0) return parse_range(argument + 6);
  return false;
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv) {
  if (info->version.min > 1 || info->version.cur < 1) {
    fprintf(stderr, "block_counts: QEMU speaks plugin API %d to %d, this plugin 1\n",
            info->version.min, info->version.cur);
    return 1;
  }
  if (strcmp(info->target_name, "arm") != 0 || !info->system_emulation ||
      info->system.smp_vcpus != 1) {
    fprintf(stderr, "block_counts: counts one core of qemu-system-arm, not %d of %s\n",
            info->system.smp_vcpus, info->target_name);
    return 1;
  }
  for (int i = 0; i < argc; ++i) {
    if (parse(argv[i])) continue;
    fprintf(stderr, "block_counts: cannot use argument %s\n", argv[i]);
    return 1;
  }
  if (out == NULL) {
    fprintf(stderr, "block_counts: out=FILE is missing\n");
    return 1;
  }
  fprintf(out, "dump 1\n");
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
