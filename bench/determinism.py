"""Is a run the same each time? Outputs and counts of several resets, compared with the first's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.wire import RunLog


@dataclass(frozen=True)
class Repeated:
    """What differed between resets.

    Attributes:
        resets: runs that were compared, the first included.
        outputs: (sample, index) of outputs that are not the first run's in one run or more.
        windows: `name[i]` of windows whose ticks are not the first run's, operators included as `op[i]`.
        told: one sentence for each output or window that differs, with the run and what it gave.
    """

    resets: int
    outputs: tuple[tuple[int, int], ...]
    windows: tuple[str, ...]
    told: tuple[str, ...]


def compare_runs(first: RunLog, others: Sequence[RunLog]) -> Repeated:
    """Compare further runs of the same bundle with the first."""
    outputs: dict[tuple[int, int], str] = {}
    windows: dict[str, str] = {}
    expected = _windows(first)
    for number, other in enumerate(others, start=2):
        for key, data in first.outputs.items():
            got = other.outputs.get(key, b"")
            if got != data:
                at = next(
                    (
                        i
                        for i, pair in enumerate(zip(got, data, strict=False))
                        if pair[0] != pair[1]
                    ),
                    min(len(got), len(data)),
                )
                outputs.setdefault(
                    key,
                    f"run {number}: output {key[1]} of sample {key[0]} differs from byte {at} on",
                )
        for name, ticks in _windows(other).items():
            if ticks != expected.get(name):
                windows.setdefault(
                    name, f"run {number}: {name} took {ticks} ticks, {expected.get(name)} before"
                )
    return Repeated(
        1 + len(others), tuple(outputs), tuple(windows), (*outputs.values(), *windows.values())
    )


def _windows(log: RunLog) -> dict[str, int]:
    found = {f"{name}[{i}]": t for name, ticks in log.ticks.items() for i, t in enumerate(ticks)}
    return found | {f"op[{index}]": ticks for index, _, ticks in log.operator_ticks}
