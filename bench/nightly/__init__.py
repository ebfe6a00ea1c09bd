"""A night: run the matrix, keep records, compare with history and baselines, and say what got worse.

What a night did is kept in `<results>/.nightly/<UTC>/`: night.json, summary.md, junit.xml. Records are in `<results>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import frame
from bench.nightly.judge import Judge
from bench.nightly.kept import call_hook, keep, past_nights, predictions, prune
from bench.nightly.running import UNKNOWN_S, only_one, order, read_junit, run_cell
from bench.nightly.told import junit, summary
from bench.nightly.values import Cell, CellNight, Finding, Kind, Level, Night, Ran, Runner, Say
from bench.nightly.watch import clock, stale
from bench.quantity import show_seconds

if TYPE_CHECKING:
    from bench.baseline import Baselines
    from bench.policy import Policy

__all__ = ["Bench", "Cell", "CellNight", "Finding", "Kind", "Level", "Night", "Ran", "call_hook", "junit", "keep", "only_one", "order",
           "past_nights", "predictions", "prune", "read_junit", "run_cell", "run_night", "summary"]  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """What a night works with.

    Attributes:
        budget_s: None for as long as it takes.
        now: the clock.
    """

    policy: Policy
    cells: tuple[Cell, ...]
    results: Path
    baselines: Baselines
    runner: Runner
    say: Say
    budget_s: float | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def run_night(bench: Bench) -> Night:
    """Run the cells that fit the budget and judge each; the caller writes the result."""
    started = bench.now()
    nights = past_nights(bench.results)
    predicted = predictions(nights)
    chosen, out = order(bench.cells, bench.policy, predicted, bench.budget_s)
    findings = list(clock(bench.results, started))
    done: list[CellNight] = []
    for cell in chosen:
        spent = (bench.now() - started).total_seconds()
        cost = predicted.get(str(cell), UNKNOWN_S)
        if bench.budget_s is not None and done and spent + cost > bench.budget_s:
            out.append(cell)
            continue
        one = _one_cell(bench, cell, nights)
        bench.say(
            f"{cell}: {one.kind.value}, {len(one.findings)} findings, {show_seconds(one.seconds)}"
        )
        done.append(one)
    done += [CellNight(cell, Kind.LEFT_OUT) for cell in out]
    findings += stale(bench.results, bench.cells, bench.policy, started)
    stamp = started.strftime("%Y-%m-%dT%H:%M:%SZ")
    fails = bench.policy.infrastructure == "fail"
    return Night(stamp, tuple(done), tuple(findings), fails)


def _one_cell(bench: Bench, cell: Cell, nights: Sequence[Mapping[str, Any]]) -> CellNight:
    one = CellNight(cell, Kind.INFRASTRUCTURE)
    for attempt in range(bench.policy.retries + 1):
        ran = bench.runner(cell, bench.results)
        one.seconds += ran.seconds
        one.kind = ran.kind
        if ran.message:
            one.messages.append(ran.message)
        if ran.kind is not Kind.INFRASTRUCTURE:
            one.retries = attempt
            break
        one.retries = attempt + 1
    if one.kind is Kind.INFRASTRUCTURE or not ran.run_ids:
        return one
    one.first = ran.run_ids[0]
    found = frame.load(bench.results)
    judged = Judge(bench.policy, bench.baselines, cell, found, nights, one)
    if judged.suspicious():
        for _ in range(bench.policy.thresholds.reruns):
            extra = bench.runner(cell, bench.results)
            one.seconds += extra.seconds
            one.again += extra.run_ids[:1]
        judged = Judge(bench.policy, bench.baselines, cell, frame.load(bench.results), nights, one)
    one.findings += judged.findings()
    return one
