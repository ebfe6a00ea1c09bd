"""What concerns the night as a whole: a clock that jumped back, cells that have no record for too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench import frame
from bench.nightly.kept import past_nights
from bench.nightly.values import Cell, Finding, Level

if TYPE_CHECKING:
    from bench.policy import Policy

_CLOCK_SLACK_S = 120.0


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def clock(results: Path, now: datetime) -> Iterator[Finding]:
    """Tell if records are from the future: the clock jumped back, and their order cannot be trusted."""
    found = frame.load(results) if results.is_dir() else None
    if found is None or found.empty:
        return
    newest = _time(str(found["time_utc"].iloc[-1]))
    if (newest - now).total_seconds() > _CLOCK_SLACK_S:
        text = f"the clock says {now:%Y-%m-%dT%H:%M:%SZ}, the newest record {newest:%Y-%m-%dT%H:%M:%SZ}: set it, then run again"
        yield Finding(Level.WARN, text)


def stale(results: Path, cells: Iterable[Cell], policy: Policy, now: datetime) -> Iterator[Finding]:
    """Tell cells without a usable record for too many nights."""
    found = frame.load(results)
    good = frame.runs(found[found["status"] != "invalid"])
    for cell in cells:
        mine = good[
            (good["board"] == cell.board)
            & (good["model"] == cell.model)
            & (good["scheme"] == cell.scheme)
        ]
        if mine.empty:
            nights = len(past_nights(results)) + 1
            age, text = nights, f"no record of {cell} in {nights} nights"
        else:
            age = (now - _time(str(mine["time_utc"].iloc[-1]))).days
            text = f"no record of {cell} for {age} nights"
        if age > policy.stale_nights:
            yield Finding(Level.FAIL, text)
