"""Time of an inference: instructions on an emulator, milliseconds on a host, cycles on silicon alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.errors import CounterError
from bench.record import Evidence, Measure, measured

if TYPE_CHECKING:
    from bench.metrics import Run

WINDOWS = ("load", "latency_first", "latency_warmup", "latency")


def instructions(ticks: int, hz: int, icount_shift: int) -> int:
    """Turn ticks of a counter at `hz` into executed instructions under `-icount shift=N`.

    QEMU lets an instruction take 2**N ns of virtual time (its documentation of -icount), so a window of n
    instructions shows n * 2**N * hz / 1e9 ticks, cut to a whole number. The shift is chosen so that an instruction
    is more than a tick, hence the smallest n that gives at least these ticks is the one that was executed.
    """
    return -(-ticks * 1_000_000_000 // (hz << icount_shift))


def measure(run: Run) -> list[Measure]:
    """Return `load`, `latency_first`, `latency_warmup` and `latency` with every raw sample."""
    found = []
    for name in WINDOWS:
        ticks = run.log.ticks.get(name, ())
        if any(value == 0 for value in ticks) or (name == "latency_first" and not ticks):
            raise CounterError(f"{name} shows {list(ticks)} ticks: the counter did not count")
        if not ticks:
            continue
        hz = run.log.hello.counter_hz
        if run.board.qemu is not None:
            shift = run.board.qemu.icount_shift
            counts = [instructions(value, hz, shift) for value in ticks]
            source = f"{run.log.hello.counter} under -icount shift={shift}"
            found.append(measured(name, "instructions", Evidence.COUNT, *counts, source=source))
        elif run.board.evidence == "wallclock":
            times = [value / hz * 1e3 for value in ticks]
            found.append(measured(name, "ms", Evidence.WALLCLOCK, *times))
        else:
            found.append(measured(name, "cycles", Evidence.SILICON, *ticks))
    return found
