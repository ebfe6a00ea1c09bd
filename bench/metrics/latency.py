"""Time of an inference: instructions on an emulator, milliseconds on a host, cycles on silicon alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.errors import CounterError
from bench.noise import median_interval
from bench.record import Evidence, Measure, measured
from bench.sampling import width_of
from bench.wire import INFERENCES

if TYPE_CHECKING:
    from bench.metrics import Run
    from bench.wire import Counter

WINDOWS = ("load", *(f"{name}{side}" for name in INFERENCES for side in ("_pre", "", "_post")))
_VARYING = frozenset({Evidence.SILICON, Evidence.WALLCLOCK})


def instructions(ticks: int, hz: int, icount_shift: int, counter: Counter) -> int:
    """Turn the ticks of a window into the instructions that were executed in it, under `-icount shift=N`.

    QEMU lets an instruction take 2**N ns of virtual time (its documentation of -icount), so n instructions are
    n * 2**N * hz / 1e9 ticks. The shift is chosen so that this is more than one tick an instruction: rounding to
    the nearest gives n back. Taken off are the window's own instructions and those of the counter's wrap interrupt,
    which count in it (docs/wire.md; `tests/firmware` shows an error of 0 on every board).
    """
    rate = hz << icount_shift

    def nearest(count: int) -> int:
        return ((2 * count + 1) * 10**9 + rate) // (2 * rate)

    own = counter.wrap_instructions * rate // 10**9
    wraps = max(0, ticks - own) >> counter.wrap_bits
    return nearest(ticks) - nearest(counter.overhead_ticks) - wraps * counter.wrap_instructions


@dataclass(frozen=True)
class Scale:
    """What ticks of a run are turned into, and how."""

    unit: str
    evidence: Evidence
    source: str
    convert: Callable[[int], float]


def scale_of(run: Run) -> Scale:
    """Return the scale of a run's windows: instructions, milliseconds or cycles."""
    hz = run.log.hello.counter_hz
    counter = run.log.counter
    if run.board.qemu is not None:
        shift = run.board.qemu.icount_shift
        source = f"{run.log.hello.counter} under -icount shift={shift}, the window's own taken off"
        return Scale(
            "instructions",
            Evidence.COUNT,
            source,
            lambda ticks: instructions(ticks, hz, shift, counter),
        )
    if run.board.evidence == "fvp":
        source = f"{run.log.hello.counter} of an FVP, which is not cycle accurate"
        return Scale("fvp_ticks", Evidence.FVP, source, float)
    if run.board.evidence == "wallclock":
        return Scale("ms", Evidence.WALLCLOCK, "", lambda ticks: ticks / hz * 1e3)
    empty = counter.overhead_ticks
    source = f"{run.log.hello.counter}, an empty window's {empty} taken off"
    return Scale("cycles", Evidence.SILICON, source, lambda ticks: float(max(0, ticks - empty)))


def measure(run: Run) -> list[Measure]:
    """Return every window with its raw samples: load apart, cold and warm inferences, what lies around them.

    `_pre` is copying the inputs in, `_post` reading the outputs out.
    """
    scale = scale_of(run)
    found = []
    for name in WINDOWS:
        ticks = run.ticks(name)
        inner = not name.endswith(("_pre", "_post"))  # of a small tensor those may take no tick
        if (inner and 0 in ticks) or (name == "latency_first" and not ticks):
            raise CounterError(f"{name} shows {list(ticks)} ticks: the counter did not count")
        if not ticks:
            continue
        values = [scale.convert(value) for value in ticks]
        width = width_of(values) if scale.evidence in _VARYING else None
        reached = "" if width is None else f"95 % interval of the median {width:.2%} wide"
        found.append(
            measured(
                name,
                scale.unit,
                scale.evidence,
                *values,
                interval=None if width is None else median_interval(values),
                source="; ".join(told for told in (scale.source, reached) if told),
                window=True,
            )
        )
    return found
