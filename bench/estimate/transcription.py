"""The transcription check: do the tables say what the manuals say that they were written from?

It shows typing errors, not how good the model is: an agreement here sets no band.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass

from bench.estimate.anchors import FOLDER
from bench.estimate.dump import Block, Count
from bench.estimate.price import Pricer
from bench.estimate.table import table_of

ROUNDING = 1e-9


@dataclass(frozen=True)
class Example:
    """A program of a manual.

    Attributes:
        low, high: cycles that the manual gives, as a range where it gives one.
        taken: its last instruction is a branch that is taken.
    """

    core: str
    source: str
    assembly: str
    code: bytes
    low: float
    high: float
    taken: bool

    def cycles(self) -> float:
        """Return the cycles by the core's table."""
        block = Block(0, 0, self.code)
        runs = Count(runs=1, taken=int(self.taken), entered=1)
        return Pricer(table_of(self.core)).price([(block, runs)]).cycles

    def agrees(self) -> bool:
        """Whether the table's cycles are the manual's."""
        return self.low - ROUNDING <= self.cycles() <= self.high + ROUNDING


def examples() -> tuple[Example, ...]:
    """Read every example."""
    rows = tomllib.loads((FOLDER / "transcription.toml").read_text())["example"]
    return tuple(
        Example(
            core=row["core"],
            source=row["source"],
            assembly=row["assembly"],
            code=bytes.fromhex(row["code"]),
            low=row["cycles"][0],
            high=row["cycles"][1],
            taken=row.get("taken", False),
        )
        for row in rows
    )


def statuses(core: str) -> Counter[str]:
    """Return how many of a table's numbers have which status."""
    return Counter(number.status.value for number in table_of(core).numbers().values())
