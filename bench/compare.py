"""What changed between two sets of runs: measures with their noise, programs by operator, images by symbol."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.changes import (
    Delta,
    Run,
    image_changes,
    operator_changes,
    program_changes,
    symbol_changes,
    tool_changes,
)
from bench.errors import InputError, UnknownNameError, nearest
from bench.frame import read_beside
from bench.noise import difference_of_proportions, median_interval, spread
from bench.quantity import show, show_seconds
from bench.record import Evidence

if TYPE_CHECKING:
    import pandas as pd

DETERMINISTIC = frozenset({Evidence.COUNT, Evidence.EMULATED, Evidence.STATIC, Evidence.ESTIMATE})
KEYS = ("board", "device", "model", "scheme", "engine")
_SELECTORS = (*KEYS, "cpu", "commit", "run_id", "compiler")
_HIGHER = re.compile(r"top1_.*")
_NEUTRAL = re.compile(r"top1_host_int8|top1_float|lab_staging")
_CYCLES = ("cycles", "est_cycles")
_HISTORY = 5  # runs that make a spread from history
_SIGMAS = 3.0  # a difference of two runs beyond this many of its standard deviations is one
# what makes a workload, and how people call it
_WORKLOAD = {
    "source_sha256": "the model's source",
    "weights_sha256": "weights",
    "dataset_sha256": "test data",
    "calibration_sha256": "calibration data",
}
_CIRCUMSTANCES = ("compiler", "engine_version", "image_role", "clock_hz", "attachment", "oracle")


class Verdict(StrEnum):
    """What a pair of figures says."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"  # a measure without a direction
    NOISE = "within noise"
    UNKNOWN = "noise unknown"
    LABELLED = "not like for like"


@dataclass(frozen=True)
class Row:
    """A measure on both sides.

    Attributes:
        noise: what the verdict stands on, in words.
    """

    measure: str
    unit: str
    evidence: str
    before: float
    after: float
    verdict: Verdict
    noise: str

    @property
    def relative(self) -> float | None:
        """The change as a part of what was before; None from zero."""
        return (self.after - self.before) / abs(self.before) if self.before else None


@dataclass(frozen=True)
class Pair:
    """Two runs of the same cell, as far as what was asked to differ allows.

    Attributes:
        labels: what is unlike on purpose or in its circumstances; to be read beside every figure.
        refused: why the figures are not compared; empty if they are.
        only: measures that one side alone has.
    """

    before: Run
    after: Run
    labels: tuple[str, ...] = ()
    refused: str = ""
    rows: tuple[Row, ...] = ()
    only: tuple[str, ...] = ()
    operators: tuple[Delta, ...] = ()
    program: tuple[str, ...] = ()
    symbols: tuple[Delta, ...] = ()
    image: tuple[str, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether any measure is worse."""
        return any(row.verdict is Verdict.WORSE for row in self.rows)


@dataclass(frozen=True)
class Comparison:
    """All pairs, and the runs of one side that have no partner."""

    pairs: tuple[Pair, ...]
    alone: tuple[str, ...] = field(default=())


def select_runs(frame: pd.DataFrame, text: str) -> pd.DataFrame:
    """Return the runs that a selector names: `key=value[,key=value]`, a run id, a commit, or a record's path.

    Raises:
        UnknownNameError: nothing of the frame matches.
    """
    if "=" in text:
        chosen = frame
        for part in text.split(","):
            key, _, value = (word.strip() for word in part.partition("="))
            key = {"run": "run_id", "core": "cpu"}.get(key, key)
            if key == "cpu" and value.startswith("m"):
                value = f"cortex-{value}"
            if key not in _SELECTORS:
                raise UnknownNameError(
                    f"no key {key!r} in {text!r}", hint=nearest(key, list(_SELECTORS))
                )
            column = chosen[key].astype(str)
            chosen = (
                chosen[column.str.startswith(value)]
                if key in {"commit", "run_id"}
                else chosen[column == value]
            )
    elif text.endswith(".json"):
        chosen = frame[frame["path"].astype(str) == str(Path(text).resolve())]
    elif re.fullmatch(r"[0-9a-f]{4,40}", text):
        column = frame["run_id"].astype(str)
        chosen = frame[column.str.startswith(text)]
        if chosen.empty:
            chosen = frame[frame["commit"].astype(str).str.startswith(text)]
    else:
        raise InputError(
            f"{text!r} selects nothing",
            hint="a run id, a commit, a record's path, or key=value with " + ", ".join(_SELECTORS),
        )
    if chosen.empty:
        known = {
            key: sorted(frame[key].astype(str).unique())
            for key in ("board", "model", "scheme", "engine", "cpu")
        }
        raise UnknownNameError(
            f"no record matches {text!r}",
            hint="; ".join(f"{key}: {', '.join(values)}" for key, values in known.items()),
        )
    return chosen


def direction(measure: str, unit: str) -> int:
    """Return 1 if larger is worse, -1 if smaller is worse, 0 if neither."""
    if _NEUTRAL.fullmatch(measure):
        return 0
    return -1 if _HIGHER.fullmatch(measure) or unit == "dB" else 1


def compare(
    before: pd.DataFrame, after: pd.DataFrame, history: pd.DataFrame, *, unlike: bool = False
) -> Comparison:
    """Compare the latest run of each cell on both sides.

    Args:
        before: rows of the frame, side A.
        after: side B.
        history: rows that the run-to-run spread may come from.
        unlike: compare runs of unlike workloads too, labelled.

    Raises:
        InputError: no run of A has a partner in B.
    """
    loose = [
        key
        for key in KEYS
        if before[key].nunique() == after[key].nunique() == 1
        and str(before[key].iloc[0]) != str(after[key].iloc[0])
    ]
    if "board" in loose or before["board"].nunique() == 1 == after["board"].nunique():
        loose.append("device")
    tight = [key for key in KEYS if key not in loose]
    sides = [_by_cell(side, tight) for side in (before, after)]
    shared = [cell for cell in sides[0] if cell in sides[1]]
    if not shared:
        raise InputError(
            "no run of A and run of B belong together",
            hint=f"they must share {', '.join(tight)}; A has {_cells(sides[0])}; B has {_cells(sides[1])}",
        )
    pairs = tuple(_pair(sides[0][cell], sides[1][cell], history, unlike=unlike) for cell in shared)
    alone = [
        f"{'AB'[index]} only: {' '.join(cell)}"
        for index in (0, 1)
        for cell in sides[index]
        if cell not in sides[1 - index]
    ]
    return Comparison(pairs, tuple(alone))


def _cells(side: Mapping[tuple[str, ...], object]) -> str:
    return "; ".join(" ".join(cell) for cell in list(side)[:6]) or "no valid run"


def _by_cell(side: pd.DataFrame, keys: Sequence[str]) -> dict[tuple[str, ...], pd.DataFrame]:
    """Return the rows of the latest usable record of each cell."""
    usable = side[side["status"].astype(str) != "invalid"]
    last = usable.drop_duplicates("path").drop_duplicates(list(keys), keep="last")
    return {
        tuple(str(run[key]) for key in keys): usable[usable["path"] == run["path"]]
        for run in last.to_dict("records")
    }


def _pair(
    before: pd.DataFrame, after: pd.DataFrame, history: pd.DataFrame, *, unlike: bool
) -> Pair:
    a, b = before.iloc[0].to_dict(), after.iloc[0].to_dict()
    labels = [
        f"{key}: {a[key]} → {b[key]}"
        for key in ("board", "model", "scheme", "engine")
        if a[key] != b[key]
    ]
    intended = bool(labels)
    why = _unlike(a, b) if a["workload_id"] != b["workload_id"] else ""
    if why and not intended:
        if not unlike:
            return Pair(a, b, refused=f"unlike workloads: {why}; --unlike compares them, labelled")
        labels.append(f"UNLIKE workloads: {why}")
    circumstances = [
        f"{key}: {a[key]} → {b[key]}" for key in _CIRCUMSTANCES if a[key] != b[key]
    ] + tool_changes(a, b)
    two_cores = a["cpu"] != b["cpu"]
    if two_cores:
        labels.append("two cores: counts are no time, and are not ranked")
    two_models = a["model"] != b["model"]
    if two_models:
        labels.append("two models: what differs is shown, and not judged")
    judged = not two_models and not (why and not intended)
    rows, only = _rows(before, after, history, judged=judged)
    if two_cores:
        rows = [replace(r, verdict=Verdict.LABELLED) if r.evidence == "count" else r for r in rows]
    return Pair(
        a,
        b,
        tuple(labels + circumstances),
        rows=tuple(rows),
        only=tuple(only),
        operators=operator_changes(
            read_beside(a, "operators.json"), read_beside(b, "operators.json")
        ),
        program=tuple(program_changes(a, b)),
        symbols=symbol_changes(read_beside(a, "symbols.json"), read_beside(b, "symbols.json")),
        image=tuple(image_changes(a, b)),
    )


def _unlike(a: Run, b: Run) -> str:
    found = [name for key, name in _WORKLOAD.items() if a[key] != b[key]]
    return ", ".join(found) + " differ" if found else "options or number of samples differ"


# --- measures -------------------------------------------------------------------------------------------------------


def _rows(
    before: pd.DataFrame, after: pd.DataFrame, history: pd.DataFrame, *, judged: bool
) -> tuple[list[Row], list[str]]:
    key = ["measure", "unit", "evidence"]
    sides = [
        {tuple(str(row[k]) for k in key): row for row in side.to_dict("records") if row["measure"]}
        for side in (before, after)
    ]
    rows = []
    for name, a in sides[0].items():
        b = sides[1].get(name)
        if b is None:
            continue
        verdict, noise = _judge(a, b, history)
        measure, unit, evidence = name
        told = verdict if judged else Verdict.LABELLED
        rows.append(Row(measure, unit, evidence, a["median"], b["median"], told, noise))
    only = [
        f"{'AB'[index]} only: {' '.join(name)}"
        for index in (0, 1)
        for name in sides[index]
        if name not in sides[1 - index]
    ]
    return rows, only


def _judge(a: Run, b: Run, history: pd.DataFrame) -> tuple[Verdict, str]:
    old, new = float(a["median"]), float(b["median"])
    worse = direction(a["measure"], a["unit"])
    if a["unit"] == "fraction" and _is_number(a["n"]) and _is_number(b["n"]):
        n1, n2 = int(a["n"]), int(b["n"])
        low, high = difference_of_proportions(round(new * n2), n2, round(old * n1), n1)
        text = f"95 % interval of the difference: {low:+.1%} to {high:+.1%}"
        if old == new:
            return Verdict.SAME, "exact"
        return (Verdict.NOISE if low <= 0 <= high else _sign(new - old, worse)), text
    if a["unit"] in _CYCLES and a["clock_hz"] != b["clock_hz"]:
        return _as_time(a, b, worse)
    if a["evidence"] == Evidence.ESTIMATE and a["board"] != b["board"]:
        apart = a["band_high"] < b["band_low"] or b["band_high"] < a["band_low"]
        text = f"bands {a['band_low']:,.0f} to {a['band_high']:,.0f} and {b['band_low']:,.0f} to {b['band_high']:,.0f}"
        return (_sign(new - old, worse) if apart or old == new else Verdict.NOISE), text
    if a["evidence"] in DETERMINISTIC:
        return _sign(new - old, worse), "exact"
    return _noisy(a, b, _history_of(a, history))


def _as_time(a: Run, b: Run, worse: int) -> tuple[Verdict, str]:
    """Judge cycles at two clocks by the time that they take: bands of estimates, else intervals of the medians."""
    sides = []
    for side in (a, b):
        hz = float(side["clock_hz"])
        ends: tuple[float, float] | None = (side["band_low"], side["band_high"])
        if side["evidence"] != Evidence.ESTIMATE:
            ends = median_interval([float(v) for v in side["values"]])
        sides.append((float(side["median"]) / hz, ends and (ends[0] / hz, ends[1] / hz)))
    (old, before), (new, after) = sides
    text = f"as time: {_span(old, before)} and {_span(new, after)}"
    if before is None or after is None:
        return Verdict.UNKNOWN, f"{text}, too few samples"
    apart = before[1] < after[0] or after[1] < before[0]
    return (_sign(new - old, worse) if apart or old == new else Verdict.NOISE), text


def _span(value: float, ends: tuple[float, float] | None) -> str:
    band = f" ({show_seconds(ends[0])} to {show_seconds(ends[1])})" if ends else ""
    return show_seconds(value) + band


def _noisy(a: Run, b: Run, past: Sequence[float]) -> tuple[Verdict, str]:
    """Judge figures that vary from run to run, by history if there is enough, else by their samples."""
    old, new = float(a["median"]), float(b["median"])
    worse = direction(a["measure"], a["unit"])
    if len(past) >= _HISTORY:
        limit = _SIGMAS * math.sqrt(2) * spread(past)
        text = f"±{show(limit, a['unit'])} ({len(past)} runs of history)"
        return (Verdict.NOISE if abs(new - old) <= limit else _sign(new - old, worse)), text
    ranges = [median_interval([float(v) for v in side["values"]]) for side in (a, b)]
    if ranges[0] is None or ranges[1] is None:
        text = f"{len(past)} runs of history, too few samples"
        return (Verdict.SAME if old == new else Verdict.UNKNOWN), text
    text = "95 % intervals of the medians of the samples; run-to-run spread unknown"
    apart = ranges[0][1] < ranges[1][0] or ranges[1][1] < ranges[0][0]
    return (_sign(new - old, worse) if apart else Verdict.NOISE), text


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def _sign(difference: float, worse: int) -> Verdict:
    if difference == 0:
        return Verdict.SAME
    if worse == 0:
        return Verdict.CHANGED
    return Verdict.WORSE if difference * worse > 0 else Verdict.BETTER


def _history_of(run: Run, history: pd.DataFrame) -> list[float]:
    """Return what the same measure of the same cell, workload and toolchain was in every run."""
    same = history["workload_id"].astype(str) == str(run["workload_id"])
    for key in ("board", "device", "toolchain", "build_id", "measure", "unit", "evidence"):
        same &= history[key].astype(str) == str(run[key])
    return [float(value) for value in history.loc[same, "median"]]


def class_counts(run: Run) -> tuple[int, ...] | None:
    """Return how often each class was the device's answer, None if the program is no classifier or has no outputs."""
    program = read_beside(run, "program.json")
    entry = json.loads(run["files"]).get("output_0.bin")
    if not program or entry is None or not program.get("classes"):
        return None
    kind = {"float32": np.float32, "int8": np.int8}.get(program["outputs"][0]["dtype"])
    try:
        raw = (Path(run["path"]).parent / entry["file"]).read_bytes()
    except OSError:
        return None
    if kind is None or hashlib.sha256(raw).hexdigest() != entry["sha256"]:
        return None
    classes = int(program["classes"])
    answers = np.frombuffer(raw, kind).reshape(-1, classes).argmax(axis=1)
    return tuple(int(count) for count in np.bincount(answers, minlength=classes))
