"""A night: run the matrix, keep records, compare with history and baselines, and say what got worse.

What a night did is kept in `<results>/.nightly/<UTC>/`: night.json, summary.md, junit.xml. Records are in `<results>`.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import baseline, compare, frame, process
from bench.cache import PROJECT, write_atomically
from bench.errors import DeviceBusyError, LabError
from bench.noise import difference_of_proportions, find_step, suspicious
from bench.policy import MeasureRule, Policy
from bench.quantity import show, show_seconds

if TYPE_CHECKING:
    import pandas as pd

FOLDER = ".nightly"
_UNKNOWN_S = 60.0  # predicted time of a cell that never ran
_CELL_DEADLINE_S = 7200.0
_HOOK_DEADLINE_S = 60.0
_CLOCK_SLACK_S = 120.0
_WATCHED = 4  # suspicious nights in a row that are looked at together
_PAST = 200  # nights of history
_COLLAPSE = 20  # answers that are all the same class are no accident
_NOISY = frozenset({"silicon", "wallclock", "fvp"})


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


# --- running --------------------------------------------------------------------------------------------------------


def run_cell(cell: Cell, results: Path, pytest_args: Sequence[str]) -> Ran:
    """Run one cell with pytest in a process of its own, and read what it says from its JUnit XML."""
    with tempfile.TemporaryDirectory(prefix="bench-nightly-") as folder:
        junit = Path(folder) / "junit.xml"
        start = time.monotonic()
        done = process.run(
            [
                *(sys.executable, "-m", "pytest", "-q", f"--board={cell.board}"),
                *(f"--model={cell.model}", f"--scheme={cell.scheme}", f"--record={results}"),
                *(f"--junitxml={junit}", "-p", "no:cacheprovider", *pytest_args),
            ],
            deadline_s=_CELL_DEADLINE_S,
            cwd=PROJECT,
        )
        seconds = time.monotonic() - start
        try:
            return read_junit(junit.read_text(), seconds)
        except (OSError, ET.ParseError):
            tail = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[-400:]
            return Ran(
                Kind.INFRASTRUCTURE, seconds, message=f"pytest, exit {done.exit_code}: {tail}"
            )


def read_junit(text: str, seconds: float) -> Ran:
    """Return what pytest's XML says: an error is the bench's fault, a failure a verdict."""
    root = ET.fromstring(text)  # noqa: S314  pytest wrote it a moment ago
    ids = tuple(
        item.get("value", "") for item in root.iter("property") if item.get("name") == "run_id"
    )
    for tag, kind in (("error", Kind.INFRASTRUCTURE), ("failure", Kind.FAILED)):
        for item in root.iter(tag):
            message = (item.text or item.get("message") or "").strip()
            return Ran(kind, seconds, ids, message[:600])
    if not ids:
        return Ran(Kind.INFRASTRUCTURE, seconds, message="nothing was run")
    return Ran(Kind.RAN, seconds, ids)


def order(
    cells: Iterable[Cell], policy: Policy, predicted_s: Mapping[str, float], budget_s: float | None
) -> tuple[list[Cell], list[Cell]]:
    """Return the cells that fit the budget, by priority and then shortest first, and those left out."""
    ordered = sorted(
        cells,
        key=lambda c: (policy.place(str(c)), predicted_s.get(str(c), _UNKNOWN_S), str(c)),
    )
    if budget_s is None:
        return ordered, []
    chosen: list[Cell] = []
    out: list[Cell] = []
    left = budget_s
    for cell in ordered:
        cost = predicted_s.get(str(cell), _UNKNOWN_S)
        if cost <= left:
            chosen.append(cell)
            left -= cost
        else:
            out.append(cell)
    return chosen, out


@contextmanager
def only_one(results: Path) -> Iterator[None]:
    """Hold the folder for one night at a time.

    Raises:
        DeviceBusyError: another night is running on these results.
    """
    folder = results / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DeviceBusyError(
                "another night is running on these records", where=str(results)
            ) from error
        yield


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
    baselines: baseline.Baselines
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
    findings = list(_clock(bench, started))
    done: list[CellNight] = []
    for cell in chosen:
        spent = (bench.now() - started).total_seconds()
        cost = predicted.get(str(cell), _UNKNOWN_S)
        if bench.budget_s is not None and done and spent + cost > bench.budget_s:
            out.append(cell)
            continue
        one = _one_cell(bench, cell, nights)
        bench.say(
            f"{cell}: {one.kind.value}, {len(one.findings)} findings, {show_seconds(one.seconds)}"
        )
        done.append(one)
    done += [CellNight(cell, Kind.LEFT_OUT) for cell in out]
    findings += _stale(bench, started)
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
    judged = _Judge(bench, cell, found, nights, one)
    if judged.suspicious():
        for _ in range(bench.policy.thresholds.reruns):
            extra = bench.runner(cell, bench.results)
            one.seconds += extra.seconds
            one.again += extra.run_ids[:1]
        judged = _Judge(bench, cell, frame.load(bench.results), nights, one)
    one.findings += judged.findings()
    return one


# --- judging --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Series:
    """A measure over nights, as `find_step` wants it."""

    history: list[float]
    firsts: list[float]
    again: list[float]
    settled: list[float]


class _Judge:
    """Tonight's records of a cell against what was before."""

    def __init__(
        self,
        bench: Bench,
        cell: Cell,
        found: pd.DataFrame,
        nights: Sequence[Mapping[str, Any]],
        one: CellNight,
    ) -> None:
        self.policy = bench.policy
        self.baselines = bench.baselines
        self.one = one
        self.tonight = found[found["run_id"] == one.first]
        run = self.run = self.tonight.iloc[0].to_dict()
        same = found["workload_id"] == run["workload_id"]
        for key in ("board", "device", "model", "scheme", "engine", "toolchain"):
            same &= found[key] == run[key]
        again = {name for night in nights for c in night["cells"] for name in c["again"]}
        mine = {one.first, *one.again}
        ids = found["run_id"]
        self.cell_rows = found[same]
        self.again_of = {c["first"]: c["again"] for night in nights for c in night["cells"]}
        past = found[same & ~ids.isin(mine | again) & (found["status"] != "invalid")]
        since = self._accepted_until()
        self.past = past[past["time_utc"].astype(str) > since]
        self.watched, self.rerun_before = self._watch(str(cell), nights)
        self.past_ids = list(dict.fromkeys(self.past["run_id"].astype(str)))

    def _accepted_until(self) -> str:
        """Return when the last change of this cell was accepted; history starts after it."""
        times = [
            change.time_utc
            for change in self.baselines.changes
            if all(
                getattr(change, key) == self.run[key]
                for key in ("board", "device", "model", "scheme", "engine")
            )
        ]
        return max(times, default="")

    def _watch(self, cell: str, nights: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
        """Return first runs and further runs of the suspicious nights directly before this one."""
        firsts: list[str] = []
        again: list[str] = []
        for night in reversed(nights[-_WATCHED:]):
            mine = next((c for c in night["cells"] if c["cell"] == cell), None)
            if mine is None or not mine["again"]:
                break
            firsts.insert(0, mine["first"])
            again += mine["again"]
        return firsts, again

    def _series(self, row: Mapping[Any, Any]) -> _Series:
        key = ("measure", "unit", "evidence")
        same = self.cell_rows
        for name in key:
            same = same[same[name] == row[name]]
        value = dict(zip(same["run_id"], same["median"].astype(float), strict=True))
        past = [name for name in self.past_ids if name in value]
        history = [name for name in past if name not in self.watched][-_PAST:]
        firsts = [*(name for name in past if name in self.watched), self.one.first]
        again = [
            value[name]
            for name in (*self.rerun_before, *self.one.again)
            if name in value and self.one.again
        ]
        more = {**self.again_of, self.one.first: self.one.again}
        settled = [
            median([value[name], *(value[m] for m in more.get(name, ()) if m in value)])
            for name in (*history, *firsts)
        ]
        return _Series([value[n] for n in history], [value[n] for n in firsts], again, settled)

    def _noisy(self) -> list[dict[Any, Any]]:
        return [
            row
            for row in self.tonight.to_dict("records")
            if row["evidence"] in _NOISY and row["unit"] != "fraction"
        ]

    def suspicious(self) -> bool:
        """Whether any noisy measure of the first run deserves more runs."""
        for row in self._noisy():
            rule = self.policy.rule(row["measure"], row["evidence"])
            series = self._series(row)
            if series.history and _small(rule, median(series.history), row["median"]):
                continue
            if suspicious(
                series.history,
                row["median"],
                _worse(rule, row),
                watching=bool(self.watched),
                sensitivity=self.policy.sensitivity,
            ):
                return True
        return False

    def findings(self) -> list[Finding]:
        """Return everything there is to tell."""
        found = [*self._gate(), *self._steps(), *self._accuracy(), *self._missing()]
        counts = compare.class_counts(self.run)
        if counts is not None and sum(counts) >= _COLLAPSE and max(counts) == sum(counts):
            text = f"every one of {sum(counts)} answers is class {counts.index(max(counts))}"
            found.append(Finding(Level.FAIL, text))
        if str(self.run["status"]) == "degraded":
            found.append(Finding(Level.NOTE, f"degraded: {self.run['issues']}"))
        return found

    def _gate(self) -> list[Finding]:
        found = []
        for told in baseline.gate(self.baselines, self.tonight):
            if told.state is baseline.State.CHANGED:
                found += [Finding(Level.FAIL, f"baseline: {line}") for line in told.lines]
            elif told.state is baseline.State.NO_BASELINE:
                found += self._changed_since_last()
            elif told.state is not baseline.State.SAME:
                found.append(Finding(Level.WARN, f"{told.state.value}: {'; '.join(told.lines)}"))
        return found

    def _changed_since_last(self) -> list[Finding]:
        """Return changes of exact figures since the run before; without a baseline they warn."""
        last = self._last()
        if last is None:
            return []
        rows = {(r["measure"], r["unit"], r["evidence"]): r for r in last.to_dict("records")}
        found = []
        for row in self.tonight.to_dict("records"):
            before = rows.get((row["measure"], row["unit"], row["evidence"]))
            if before is None or row["evidence"] not in compare.DETERMINISTIC:
                continue
            rule = self.policy.rule(row["measure"], row["evidence"])
            if before["median"] != row["median"] and not _small(
                rule, before["median"], row["median"]
            ):
                text = f"{row['measure']}: {show(before['median'], row['unit'])} → {show(row['median'], row['unit'])} since the last run (no baseline)"
                found.append(Finding(Level.WARN, text))
        return found

    def _last(self) -> pd.DataFrame | None:
        if self.past.empty:
            return None
        last: pd.DataFrame = self.past[self.past["path"] == self.past["path"].iloc[-1]]
        return last

    def _steps(self) -> list[Finding]:
        found = []
        for row in self._noisy():
            rule = self.policy.rule(row["measure"], row["evidence"])
            nights = self._series(row)
            step = find_step(
                nights.history, nights.firsts, nights.again, nights.settled, self.policy.sensitivity
            )
            if step is None:
                if self.one.again and suspicious(nights.history, row["median"], _worse(rule, row)):
                    text = f"{row['measure']}: {show(row['median'], row['unit'])} did not come again in {len(self.one.again)} runs"
                    found.append(Finding(Level.NOTE, text))
                continue
            worse = _worse(rule, row)
            small = _small(rule, step.before, step.after)
            bad = not small and (worse == 0 or step.score * worse > 0)
            text = (
                f"{row['measure']}: {show(step.before, row['unit'])} → {show(step.after, row['unit'])} "
                f"({step.relative:+.2%}, {abs(step.score):.1f} standard deviations, {len(nights.history)} nights of history)"
            )
            why = self._since_last_good()
            level = Level.FAIL if bad else Level.NOTE
            found.append(Finding(level, text + (f"; changed since: {why}" if why else "")))
        return found

    def _since_last_good(self) -> str:
        last = self._last()
        if last is None:
            return ""
        before = last.iloc[0].to_dict()
        told = compare.tool_changes(before, self.run)
        if before["commit"] != self.run["commit"]:
            told.append(f"commit {str(before['commit'])[:8]} → {str(self.run['commit'])[:8]}")
        return "; ".join(told)

    def _accuracy(self) -> list[Finding]:
        """Compare top-1 with the run before: worse if the 95 % interval of the difference leaves out 0."""
        last = self._last()
        mine = self.tonight[self.tonight["measure"] == "top1_device"]
        if last is None or mine.empty:
            return []
        before = last[last["measure"] == "top1_device"]
        if before.empty:
            return []
        a, b = before.iloc[0], mine.iloc[0]
        n1, n2 = int(a["n"]), int(b["n"])
        c1, c2 = round(float(a["median"]) * n1), round(float(b["median"]) * n2)
        low, high = difference_of_proportions(c2, n2, c1, n1)
        if high >= 0:
            return []
        why = self._since_last_good()
        text = f"top-1: {c1 / n1:.1%} → {c2 / n2:.1%} (95 % interval of the difference {low:+.1%} to {high:+.1%})"
        return [Finding(Level.FAIL, text + (f"; changed since: {why}" if why else ""))]

    def _missing(self) -> list[Finding]:
        last = self._last()
        if last is None:
            return []
        key = ["measure", "unit", "evidence"]
        there = set(self.tonight[key].itertuples(index=False, name=None))
        found = []
        for name in last[key].itertuples(index=False, name=None):
            rule = self.policy.rule(name[0], name[2])
            if name[0] and name not in there and rule.missing != "ignore":
                text = f"{' '.join(name)} was there last time and is missing"
                found.append(Finding(Level(rule.missing), text))
        return found


def _worse(rule: MeasureRule, row: Mapping[Any, Any]) -> int:
    known = {"lower": 1, "higher": -1, "none": 0}
    return known.get(rule.direction, compare.direction(str(row["measure"]), str(row["unit"])))


def _small(rule: MeasureRule, before: float, after: float) -> bool:
    limit = max(rule.absolute, rule.relative * abs(before))
    return limit > 0 and abs(after - before) <= limit


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def _clock(bench: Bench, now: datetime) -> Iterator[Finding]:
    """Tell if records are from the future: the clock jumped back, and their order cannot be trusted."""
    found = frame.load(bench.results) if bench.results.is_dir() else None
    if found is None or found.empty:
        return
    newest = _time(str(found["time_utc"].iloc[-1]))
    if (newest - now).total_seconds() > _CLOCK_SLACK_S:
        text = f"the clock says {now:%Y-%m-%dT%H:%M:%SZ}, the newest record {newest:%Y-%m-%dT%H:%M:%SZ}: set it, then run again"
        yield Finding(Level.WARN, text)


def _stale(bench: Bench, now: datetime) -> Iterator[Finding]:
    """Tell cells without a usable record for too many nights."""
    found = frame.load(bench.results)
    good = frame.runs(found[found["status"] != "invalid"])
    for cell in bench.cells:
        mine = good[
            (good["board"] == cell.board)
            & (good["model"] == cell.model)
            & (good["scheme"] == cell.scheme)
        ]
        if mine.empty:
            nights = len(past_nights(bench.results)) + 1
            age, text = nights, f"no record of {cell} in {nights} nights"
        else:
            age = (now - _time(str(mine["time_utc"].iloc[-1]))).days
            text = f"no record of {cell} for {age} nights"
        if age > bench.policy.stale_nights:
            yield Finding(Level.FAIL, text)


# --- what is kept ---------------------------------------------------------------------------------------------------


def past_nights(results: Path) -> list[dict[str, Any]]:
    """Return what earlier nights did, oldest first; one that cannot be read is left out."""
    found = []
    for path in sorted((results / FOLDER).glob("*/night.json")):
        try:
            found.append(json.loads(path.read_text()))
        except (OSError, ValueError):
            continue
    return found


def predictions(nights: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the median time of each cell in the last nights, in seconds, without runs made again."""
    times: dict[str, list[float]] = {}
    for night in nights[-10:]:
        for cell in night["cells"]:
            if cell["kind"] == Kind.RAN:
                times.setdefault(cell["cell"], []).append(
                    cell["seconds"] / (1 + len(cell["again"]))
                )
    return {cell: median(values) for cell, values in times.items()}


def keep(night: Night, results: Path) -> Path:
    """Write night.json, summary.md and junit.xml; return their folder."""
    folder = results / FOLDER / night.started_utc.replace("-", "").replace(":", "")
    cells = [{**asdict(one), "cell": str(one.cell)} for one in night.cells]
    told = {
        "started_utc": night.started_utc,
        "verdict": night.verdict,
        "exit_code": night.exit_code,
        "cells": cells,
        "findings": [asdict(finding) for finding in night.findings],
    }
    write_atomically(folder / "summary.md", summary(night).encode())
    write_atomically(folder / "junit.xml", junit(night))
    write_atomically(folder / "night.json", json.dumps(told, indent=1).encode())
    return folder


def prune(results: Path, policy: Policy, now: datetime) -> int:
    """Remove transcripts older than the policy keeps, and what killed writers left; records are never touched."""
    limit = (now - timedelta(days=policy.keep_transcripts_nights)).strftime("%Y%m%dT%H%M%SZ")
    removed = 0
    for path in results.rglob("*.transcript.txt"):
        if not path.name.startswith(".") and path.name[:16] < limit:
            path.unlink(missing_ok=True)
            removed += 1
    day_ago = now.timestamp() - 86400
    for path in results.rglob(".*.json.*"):
        if path.is_file() and path.stat().st_mtime < day_ago:
            path.unlink(missing_ok=True)
    return removed


def call_hook(night: Night, folder: Path, command: Sequence[str]) -> str:
    """Tell a command the verdict in its environment; return what went wrong, empty if nothing did."""
    if not command:
        return ""
    environment = {
        **os.environ,
        "BENCH_VERDICT": night.verdict,
        "BENCH_EXIT": str(night.exit_code),
        "BENCH_SUMMARY": str(folder / "summary.md"),
        "BENCH_JUNIT": str(folder / "junit.xml"),
    }
    try:
        done = process.run(command, deadline_s=_HOOK_DEADLINE_S, environment=environment)
    except LabError as fault:
        return str(fault)
    return "" if done.exit_code == 0 else f"the hook ended with code {done.exit_code}"


_MARKS = {Level.FAIL: "❌", Level.WARN: "⚠️", Level.NOTE: "i"}


def summary(night: Night) -> str:
    """Return the night in Markdown, fit for a comment: what failed first, what ran last."""
    ran = [one for one in night.cells if one.kind is Kind.RAN]
    retried = [one for one in ran if one.retries]
    lines = [f"## Night of {night.started_utc}: {night.verdict}", ""]
    counts = {kind: sum(one.kind is kind for one in night.cells) for kind in Kind}
    lines.append(", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count) + f"; {len(retried)} passed on retry")  # fmt: skip
    told = [(f, "") for f in night.findings]
    told += [(f, str(one.cell)) for one in night.cells for f in one.findings]
    told += [
        (Finding(Level.FAIL, one.messages[-1] if one.messages else "failed"), str(one.cell))
        for one in night.cells
        if one.kind is Kind.FAILED
    ]
    for level in Level:
        chosen = [(f, cell) for f, cell in told if f.level is level]
        if chosen:
            lines += ["", f"### {_MARKS[level]} {level.value}", "", "| cell | what |", "|---|---|"]
            lines += [f"| {cell or 'the night'} | {_one_line(f.text)} |" for f, cell in chosen]
    for title, kind in (
        ("could not run", Kind.INFRASTRUCTURE),
        ("left out, no time", Kind.LEFT_OUT),
    ):
        chosen_cells = [one for one in night.cells if one.kind is kind]
        if chosen_cells:
            lines += ["", f"### {title}", ""]
            lines += [
                f"- {one.cell}"
                + (f": {_one_line(one.messages[-1])} ({one.retries} tries)" if one.messages else "")
                for one in chosen_cells
            ]
    if retried:
        lines += ["", "### passed on retry", ""]
        lines += [f"- {one.cell}: {_one_line(one.messages[0])}" for one in retried]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:300]


def junit(night: Night) -> bytes:
    """Return the night as JUnit XML: a case a cell, failures for what got worse, errors for what could not run."""
    suite = ET.Element("testsuite", name="bench nightly", timestamp=night.started_utc)
    for one in night.cells:
        case = ET.SubElement(
            suite, "testcase", classname=one.cell.board, name=f"{one.cell.model}-{one.cell.scheme}", time=f"{one.seconds:.1f}"
        )  # fmt: skip
        bad = [f.text for f in one.findings if f.level is Level.FAIL]
        if one.kind is Kind.FAILED:
            bad += one.messages[-1:]
        if bad:
            ET.SubElement(case, "failure", message=bad[0][:200]).text = "\n".join(bad)
        if one.kind is Kind.INFRASTRUCTURE:
            text = one.messages[-1] if one.messages else "could not run"
            ET.SubElement(case, "error", message=text[:200]).text = text
        if one.kind is Kind.LEFT_OUT:
            ET.SubElement(case, "skipped", message="left out, no time")
        rest = [f"{f.level.value}: {f.text}" for f in one.findings if f.level is not Level.FAIL]
        if rest or one.retries:
            out = [*rest, *([f"passed on retry {one.retries}"] if one.retries else [])]
            ET.SubElement(case, "system-out").text = "\n".join(out)
    for finding in night.findings:
        case = ET.SubElement(suite, "testcase", classname="night", name=finding.text[:80])
        if finding.level is Level.FAIL:
            ET.SubElement(case, "failure", message=finding.text).text = finding.text
    suite.set("tests", str(len(suite)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    data: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return data
