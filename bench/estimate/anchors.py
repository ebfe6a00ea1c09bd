"""Independent anchors: what was measured on real parts, beside what the tables estimate for the same programs.

A class of code on a core has an established band if at least three anchors that nothing was fitted to are there.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from bench.estimate.fit import Counted, read_counts
from bench.estimate.kinds import MVE, Kind
from bench.estimate.price import Price
from bench.estimate.table import Table, table_of
from bench.record import NOT_ESTABLISHED

FOLDER = Path(__file__).parent / "anchors"
NEEDED = 3  # held anchors
WIDENING = (
    1.25  # of the worst held residuals: a handful of anchors does not show the worst there is
)
LEAST = 0.08  # of either side of a band: parts, compilers and alignments differ by that
WIDE = (-0.25, 0.50)  # the default where no band is established
_SHARE = 0.05  # of the instructions, from which on code counts as of a class
_FLOAT = frozenset({"vadd", "vmul", "vmla", "vfma", "vdiv", "vsqrt", "vcvt"})
_DSP = frozenset({Kind.SIMD, Kind.MUL_DSP, Kind.MLA_DSP})


class CodeClass(StrEnum):
    """Classes of code that a model errs on in its own way."""

    SCALAR = "scalar"  # integers, as a compiler makes of plain C
    DSP = "dsp"  # with the DSP extension's dual 16-bit arithmetic
    FLOAT = "float"
    VECTOR = "vector"


@dataclass(frozen=True)
class Anchor:
    """A measured program with its estimate's make-up."""

    counts: Counted
    code: CodeClass
    measured_cycles: float
    held: bool
    part: str


@dataclass(frozen=True)
class Band:
    """How far the truth may lie from an estimate, as fractions of it.

    Attributes:
        anchors: how many held anchors it rests on.
    """

    low: float
    high: float
    anchors: int

    @property
    def established(self) -> bool:
        """Whether independent anchors set it."""
        return self.anchors >= NEEDED

    def around(self, cycles: float) -> tuple[float, float]:
        """Return the band of an estimate, in cycles."""
        return cycles * (1 + self.low), cycles * (1 + self.high)

    def __str__(self) -> str:
        told = f"from {self.anchors} held anchors" if self.established else NOT_ESTABLISHED
        return f"{100 * self.low:+.0f} % to {100 * self.high:+.0f} %, {told}"


def code_class(price: Price) -> CodeClass:
    """Return the class of code by the kinds of its instructions."""
    least = _SHARE * sum(price.kinds.values())
    for code, kinds in ((CodeClass.VECTOR, MVE), (CodeClass.FLOAT, _FLOAT), (CodeClass.DSP, _DSP)):
        found = (n for kind, n in price.kinds.items() if kind.removesuffix("_double") in kinds)
        if sum(found) > least:
            return code
    return CodeClass.SCALAR


def band_of(table: Table, code: CodeClass, anchors: Sequence[Anchor] | None = None) -> Band:
    """Return the band of a core and class of code, from held anchors alone."""
    residuals = [
        anchor.measured_cycles / anchor.counts.cycles(table) - 1
        for anchor in (all_anchors() if anchors is None else anchors)
        if anchor.held and anchor.code is code and anchor.counts.core == table.core
    ]
    if len(residuals) < NEEDED:
        return Band(*WIDE, len(residuals))
    low = min(-LEAST, WIDENING * min(residuals))
    high = max(LEAST, WIDENING * max(residuals))
    return Band(low, high, len(residuals))


@cache
def all_anchors() -> tuple[Anchor, ...]:
    """Read every anchor whose counts are committed."""
    return (*_coremark(), *_alif())


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _coremark() -> list[Anchor]:
    """CoreMark, one iteration: 1e6 cycles over the published score a MHz."""
    counts = {(one.core, one.label): one for one in read_counts(FOLDER / "coremark_counts.json")}
    return [
        Anchor(
            counts[row["core"], row["optimization"]],
            CodeClass.SCALAR,
            1e6 / float(row["coremark_per_mhz"]),
            # the RP2040 runs from external Flash through a cache: shown, but no zero-wait anchor
            held=row["use"] == "held" and "Flash" not in row["memory"],
            part=row["part"],
        )
        for row in _rows("coremark_silicon.csv")
    ]


def _alif() -> list[Anchor]:
    """Layers of MobileNetV2 with CMSIS-NN on an Alif E8; no row was ever fitted."""
    counts = {one.label: one for one in read_counts(FOLDER / "alif_e8_counts.json")}
    return [
        Anchor(
            counts[row["layer"]],
            CodeClass.VECTOR,
            1e6 * float(row["measured_mcycles"]),
            held=True,
            part="Alif E8",
        )
        for row in _rows("alif_e8_layers.csv")
    ]


def table_for_anchor(anchor: Anchor) -> Table:
    """Return the table that prices an anchor."""
    return table_of(anchor.counts.core)
