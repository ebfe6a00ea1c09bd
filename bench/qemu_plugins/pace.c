// A QEMU TCG plugin that holds the guest back to the rate at which it counts time.
//
// Under -icount shift=N an instruction takes 2^N ns of the guest's time, as fast as QEMU can. With
// this plugin it takes them of the host's time, too: counters are exact *and* keep time, as a
// part's do. Arguments:
//   nanoseconds=N      of an instruction: 2 to the power of icount's shift
// A guest that falls behind catches up, but for the time that it stood still (a debugger).
#define _POSIX_C_SOURCE 200809L  // clocks
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qemu_plugin_api.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;

static const int64_t kStoodNs = 100000000;  // without an instruction for so long: it was halted
static const int64_t kAheadNs = 200000;     // the least sleep
static const int64_t kBetweenNs = 200000;   // guest's time between two looks at the clock

static uint64_t executed, next_look, instruction_ns;
static int64_t origin, last_look;

static int64_t host_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void look(void) {
  int64_t now = host_ns();
  if (last_look == 0) origin = now - (int64_t)(executed * instruction_ns);
  if (last_look != 0 && now - last_look > kStoodNs) origin += now - last_look;
  const int64_t ahead = origin + (int64_t)(executed * instruction_ns) - now;
  if (ahead > kAheadNs) {
    const struct timespec wait = {.tv_sec = ahead / 1000000000, .tv_nsec = ahead % 1000000000};
    nanosleep(&wait, NULL);
    now = host_ns();
  }
  last_look = now;
  next_look = executed + (uint64_t)kBetweenNs / instruction_ns;
}

static void on_block(unsigned vcpu, void* data) {
  (void)vcpu;
  executed += (uint64_t)(uintptr_t)data;
  if (executed >= next_look) look();
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                       (void*)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv) {
  static const char kArgument[] = "nanoseconds=";
  if (info->version.min > 1 || info->version.cur < 1) {
    fprintf(stderr, "pace: QEMU speaks plugin API %d to %d, this plugin 1\n", info->version.min,
            info->version.cur);
    return 1;
  }
  if (argc == 1 && strncmp(argv[0], kArgument, sizeof kArgument - 1) == 0) {
    instruction_ns = strtoull(argv[0] + sizeof kArgument - 1, NULL, 10);
  }
  if (instruction_ns == 0 || instruction_ns > (uint64_t)kBetweenNs) {
    fprintf(stderr, "pace: needs nanoseconds=N\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
