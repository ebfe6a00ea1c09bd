"""A record as the page shows it: each figure with its text, its band and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.quantity import show, show_count, show_seconds
from bench.record import NOT_ESTABLISHED

NONE = "\N{EN DASH}"
_BRIEF_FROM = 10_000
MEANING = {
    "silicon": "cycles of a counter on a real part",
    "fvp": "an Arm model: right in what it computes, not in time",
    "wallclock": "a clock of this machine",
    "estimate": "a timing model over exact execution counts, with its band",
    "count": "instructions on an emulator: exact, and no time",
    "emulated": "seen on an emulator",
    "static": "read from the image or the program",
}


@dataclass(frozen=True)
class Figure:
    """A number as the page shows it.

    Attributes:
        origin: where it comes from, for hovering.
        run_id: the record, for the link.
        more: what is to be read beside it: its band.
    """

    text: str
    origin: str = ""
    run_id: str = ""
    evidence: str = ""
    more: str = ""


def note(row: Mapping[Any, Any]) -> str:
    """Return what is to be said of an estimate's band: that no anchors set it."""
    return f", {NOT_ESTABLISHED}" if NOT_ESTABLISHED in str(row["source"]) else ""


@dataclass
class Run:
    """A record with its measures, as the page wants it."""

    facts: Mapping[Any, Any]
    measures: Sequence[Mapping[Any, Any]]
    counts: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """How rows call it."""
        return f"{self.facts['board']}{self.twin} {self.facts['scheme']}" + (
            f" {self.facts['engine']}" if self.facts["engine"] != "lab" else ""
        )

    @property
    def twin(self) -> str:
        """What marks a board that was not there: its image's sizes, and counts of the same code elsewhere."""
        return " (twin)" if self.facts["attachment"] == "twin" else ""

    def find(self, name: str, unit: str | None = None, evidence: str | None = None) -> Mapping[Any, Any] | None:  # fmt: skip
        """Return a measure, None if the run has none of it."""
        for row in self.measures:
            if row["measure"] == name and unit in (None, row["unit"]) and evidence in (None, row["evidence"]):  # fmt: skip
                return row
        return None

    def brief(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a measure in three digits, the whole one in its origin."""
        whole = self.figure(row)
        if row is None or float(row["median"]) < _BRIEF_FROM:
            return whole
        ends = (row["band_low"], row["band_high"]) if row["band_low"] == row["band_low"] else ()
        text = show_count(float(row["median"]), *ends)
        unit = {"instructions": "instr."}.get(str(row["unit"]), str(row["unit"]))
        return Figure(
            f"{text} {unit}{note(row)}",
            f"{whole.text}. {whole.origin}",
            whole.run_id,
            whole.evidence,
        )

    def timed(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a latency as time where it is known, with its band and count beside it; else as `brief` does."""
        brief = self.brief(row)
        if row is None or row["unit"] not in {"cycles", "est_cycles"}:
            return brief
        hz = float(self.facts["clock_hz"])
        more = f"{show_count(float(row['median']))} {str(row['unit']).replace('est_', 'est. ')}"
        if row["band_low"] == row["band_low"]:
            band = f"{show_seconds(row['band_low'] / hz)} to {show_seconds(row['band_high'] / hz)}"
            more = f"{band}, {more}{note(row)}"
        text = show_seconds(float(row["median"]) / hz)
        return Figure(text, f"{text} at {hz / 1e6:g} MHz. {self.figure(row).text}. {brief.origin}", brief.run_id, brief.evidence, more)  # fmt: skip

    def figure(self, row: Mapping[Any, Any] | None) -> Figure:
        """Return a measure as text with its origin."""
        if row is None:
            return Figure(NONE)
        text = show(float(row["median"]), str(row["unit"]))
        if row["unit"] == "fraction" and row["low"] == row["low"]:  # a NaN is not itself
            text += f" [{row['low']:.1%}, {row['high']:.1%}]"
        if row["band_low"] == row["band_low"]:
            text += f" ({row['band_low']:,.0f} to {row['band_high']:,.0f}){note(row)}"
        origin = f"{row['measure']}: {row['evidence']}, {MEANING.get(str(row['evidence']), '')}. {row['source']} Run {self.facts['run_id']}, {self.facts['time_utc']}, commit {str(self.facts['commit'])[:12]}{' dirty' if self.facts['dirty'] else ''}."
        return Figure(text, origin, str(self.facts["run_id"]), str(row["evidence"]))


def best_latency(run: Run) -> Mapping[Any, Any] | None:
    """Return the latency of the best evidence that a run has."""
    for evidence in ("silicon", "fvp", "wallclock", "estimate", "count"):
        for name in ("latency", "latency_first"):
            row = run.find(name, evidence=evidence)
            if row is not None:
                return row
    return None
