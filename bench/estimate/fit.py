"""Fit a table's numbers to the anchors that are marked `fit`, and price anchors from their committed counts.

An anchor's program is not in this repository (CoreMark may not be), its counts are: the cycles of the walk through
its blocks, and how often each number that is added afterwards applies. So an estimate is a sum, and a fit is exact.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.errors import Blame, LabError
from bench.estimate.price import Price
from bench.estimate.table import Table, Taken

STEP = 0.05  # cycles: what a fitted number is rounded to
LINEAR = ("store_then_memory", *(f"taken.{name}" for name in Taken.model_fields))


class StaleCountsError(LabError):
    """Counts that were made with another walk than the table's."""

    code = "counts-stale"
    blame = Blame.BENCH


@dataclass(frozen=True)
class Counted:
    """One program of an anchor, by what its estimate is made of.

    Attributes:
        label: what the anchor's file calls it.
        instructions: executed, an iteration.
        walk_cycles: cycles of its blocks without what `events` adds.
        events: dotted path of a number -> how often it is added.
        kinds: executed instructions by kind.
        walk_sha256: of the table's numbers that `walk_cycles` comes from.
    """

    core: str
    label: str
    instructions: float
    walk_cycles: float
    events: dict[str, float]
    kinds: dict[str, float]
    walk_sha256: str

    def cycles(self, table: Table) -> float:
        """Return the estimated cycles with a table of the same walk.

        Raises:
            StaleCountsError: the table's walk has changed since.
        """
        if self.walk_sha256 != walk_sha256(table):
            raise StaleCountsError(
                f"the counts of {self.core} {self.label} were made with other numbers than the table's",
                hint="make the dumps again and run `python -m bench.estimate summarise`",
            )
        return self.walk_cycles + sum(
            times * _value(table, path) for path, times in self.events.items()
        )


def without_linear(table: Table) -> Table:
    """Return the table with every number at zero that is only added."""
    return table.with_values(dict.fromkeys(LINEAR, 0.0))


def walk_sha256(table: Table) -> str:
    """Return the hash of what decides the walk through a block."""
    values = {
        path: (number.value, number.each)
        for path, number in sorted(without_linear(table).numbers().items())
    }
    pairing = table.pairing.model_dump(mode="json", include={"rule", "units", "doubled"})
    return hashlib.sha256(json.dumps([values, pairing]).encode()).hexdigest()[:16]


def count(table: Table, label: str, walked: Price, iterations: int) -> Counted:
    """Summarise a price that was made with `without_linear(table)`."""
    return Counted(
        core=table.core,
        label=label,
        instructions=walked.instructions / iterations,
        walk_cycles=walked.cycles / iterations,
        events={
            path: times / iterations
            for path, times in sorted(walked.events.items())
            if path in LINEAR and times
        },
        kinds={kind: times / iterations for kind, times in sorted(walked.kinds.items())},
        walk_sha256=walk_sha256(table),
    )


def read_counts(path: Path) -> tuple[Counted, ...]:
    """Read a file of counts."""
    return tuple(Counted(**row) for row in json.loads(path.read_text()))


def write_counts(counts: Sequence[Counted]) -> str:
    """Return the text of a file of counts: one anchor a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(one)) for one in counts) + "\n]\n"


def _value(table: Table, path: str) -> float:
    """Return what an event costs: a misprediction counts by its share."""
    value = table.numbers()[path].value
    return value * table.taken.mispredicted_share.value if path == "taken.mispredicted" else value


def _refill(value: float) -> dict[str, float]:
    """A taken branch; one through a register is taken to cost a cycle more, since its target is known later."""
    return {
        "taken.direct": value,
        "taken.call": value,
        "taken.indirect": value + 1,
    }


def _one(path: str) -> Callable[[float], dict[str, float]]:
    return lambda value: {path: value}


# what is fitted, core by core: name -> (numbers that it sets, least and largest value that make sense)
Parameters = Mapping[str, tuple[Callable[[float], dict[str, float]], float, float]]
FITTED: Mapping[str, Parameters] = {
    "cortex-m4": {"refill": (_refill, 1.0, 3.0)},  # Arm 100166, Table 3-1: P is 1 to 3
    "cortex-m33": {
        "refill": (_refill, 1.0, 3.0),
        "wide_unaligned": (_one("taken.wide_unaligned"), 0.0, 1.0),  # one more fetch
    },
    "cortex-m7": {"mispredicted_share": (_one("taken.mispredicted_share"), 0.0, 1.0)},
}


def fit(table: Table, anchors: Sequence[tuple[Counted, float]]) -> dict[str, float]:
    """Return the parameters with the least sum of squared relative errors, on a grid of STEP.

    Args:
        table: whose fitted numbers are replaced.
        anchors: counts and measured cycles.
    """
    parameters = FITTED[table.core]
    grids = [
        range(round(low / STEP), round(high / STEP) + 1) for _, low, high in parameters.values()
    ]

    def error(steps: tuple[int, ...]) -> float:
        tried = table.with_values(values_of(table.core, _fitted(parameters, steps)))
        return sum((one.cycles(tried) / measured - 1) ** 2 for one, measured in anchors)

    return _fitted(parameters, min(itertools.product(*grids), key=error))


def _fitted(parameters: Parameters, steps: tuple[int, ...]) -> dict[str, float]:
    return {name: round(number * STEP, 10) for name, number in zip(parameters, steps, strict=True)}


def values_of(core: str, fitted: Mapping[str, float]) -> dict[str, float]:
    """Return the table's numbers, by dotted path, that fitted parameters set."""
    values: dict[str, float] = {}
    for name, value in fitted.items():
        values |= FITTED[core][name][0](value)
    return values
