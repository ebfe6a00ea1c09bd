"""What a night is made of: cells, how each ended, and what there is to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """What a finding does to the night."""

    FAIL = "fail"
    WARN = "warn"
    NOTE = "note"


class Kind(StrEnum):
    """How a cell's run ended."""

    RAN = "ran"
    FAILED = "failed"  # a verdict on the model or the device's answers
    INFRASTRUCTURE = "infrastructure"  # the bench's fault: retried, and kept apart
    LEFT_OUT = "left out"  # no time


@dataclass(frozen=True)
class Cell:
    """One place of the matrix."""

    board: str
    model: str
    scheme: str

    def __str__(self) -> str:
        return f"{self.board}/{self.model}/{self.scheme}"


@dataclass(frozen=True)
class Ran:
    """What one run of a cell gave."""

    kind: Kind
    seconds: float
    run_ids: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Finding:
    """Something to tell of a cell."""

    level: Level
    text: str


@dataclass
class CellNight:
    """A cell's night.

    Attributes:
        first: record of the first good run.
        again: records of the runs that were made because it was suspicious.
        retries: runs that the bench made fail before one was good.
    """

    cell: Cell
    kind: Kind
    seconds: float = 0.0
    first: str = ""
    again: list[str] = field(default_factory=list)
    retries: int = 0
    messages: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Night:
    """A night as a whole."""

    started_utc: str
    cells: tuple[CellNight, ...]
    findings: tuple[Finding, ...]
    infrastructure_fails: bool = False

    @property
    def exit_code(self) -> int:
        """0 fine, 1 something failed, 3 nothing could run."""
        ran = [one for one in self.cells if one.kind in {Kind.RAN, Kind.FAILED}]
        if not ran:
            return 3
        told = [*self.findings, *(f for one in self.cells for f in one.findings)]
        failed = any(one.kind is Kind.FAILED for one in self.cells)
        broken = self.infrastructure_fails and any(
            one.kind is Kind.INFRASTRUCTURE for one in self.cells
        )
        return 1 if failed or broken or any(f.level is Level.FAIL for f in told) else 0

    @property
    def verdict(self) -> str:
        """One word or two."""
        return {0: "good", 1: "worse", 3: "nothing ran"}[self.exit_code]


Runner = Callable[[Cell, Path], Ran]
Say = Callable[[str], None]
