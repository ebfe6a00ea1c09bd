"""Baselines: what the deterministic figures of the emulated boards are, committed in one file with the reasons.

A figure that differs from its baseline fails until `bench baseline accept --reason=...` explains it. A toolchain,
workload or cell that the file does not know is reported, not failed; so is an absent or empty file.

An exported program is not the same on every machine: scales come from float activations, whose last bit depends on
the processor. With another program of the same workload, outputs and errors are not compared, and instructions may
differ by `_OTHER_PROGRAM`; its size, plan and operators are compared exactly all the same.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.cache import write_atomically
from bench.errors import InputError, RecordError
from bench.frame import read_beside
from bench.record import Evidence

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "baselines.json"
_GATED = frozenset({Evidence.COUNT, Evidence.STATIC, Evidence.EMULATED})
_FLOAT_UNITS = frozenset({"dB", "max_abs", "max_relative"})
_FLOAT_TOLERANCE = (
    1e-6  # relative: the float reference is torch's, whose sums differ from one machine to another
)
_OTHER_PROGRAM = 1e-3  # of the instructions: kernels that branch on data see other values
_EXACT = frozenset({"emulator", "twin"})  # attachments whose figures are the same on every run
_SHOWN = 5
_NAMED_BYTES = 256
KEY = ("board", "model", "scheme", "engine", "compiler", "target")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Entry(_Strict):
    """The accepted figures of one cell with one toolchain.

    Attributes:
        measures: `name [unit]` -> value.
        program_sha256: of the .pte.
        outputs_sha256: of all outputs, in order.
        operators: `#index operator (layer)` -> instructions, where the record has a table.
        build_id: of the image; its symbols are in `Baselines.images`.
    """

    board: str
    model: str
    scheme: str
    engine: str
    compiler: str
    target: str
    workload_id: str
    program_sha256: str
    measures: dict[str, float]
    outputs_sha256: str
    operators: dict[str, float] = {}
    build_id: str
    run_id: str
    commit: str
    time_utc: str
    reason: str

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the baseline of a run."""
        return tuple(str(getattr(self, name)) for name in KEY)


class Change(_Strict):
    """A change of noisy figures that was accepted: the history of the cell starts again at this time."""

    board: str
    device: str
    model: str
    scheme: str
    engine: str
    time_utc: str
    reason: str


class Baselines(_Strict):
    """The file."""

    schema_version: int = Field(default=1, alias="schema")
    entries: list[Entry] = []
    images: dict[str, dict[str, int]] = {}
    changes: list[Change] = []

    model_config = ConfigDict(populate_by_name=True)


class State(StrEnum):
    """What a run is against its baseline."""

    SAME = "same"
    CHANGED = "changed"
    NO_BASELINE = "no baseline"
    UNKNOWN_TOOLCHAIN = "unknown toolchain"
    UNLIKE = "unlike workload"


@dataclass(frozen=True)
class Finding:
    """A run against its baseline; only `changed` fails.

    Attributes:
        lines: what changed, measure by measure, then by operator and symbol.
    """

    cell: str
    state: State
    lines: tuple[str, ...] = field(default=())


def read(path: Path) -> Baselines:
    """Read the file; an absent or empty one is no baseline.

    Raises:
        RecordError: it is damaged.
    """
    try:
        text = path.read_text()
    except FileNotFoundError:
        return Baselines()
    if not text.strip():
        return Baselines()
    try:
        return Baselines.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(
            f"the baselines are damaged: {where}: {first['msg']}",
            where=str(path),
            hint="take it from the repository again",
        ) from error


def write(path: Path, baselines: Baselines) -> None:
    """Write the file, sorted, so that its diff shows what changed."""
    whole = baselines.model_copy(update={"entries": sorted(baselines.entries, key=lambda e: e.key)})
    text = json.dumps(whole.model_dump(by_alias=True), indent=1, sort_keys=True)
    write_atomically(path, text.encode() + b"\n")


def accept(baselines: Baselines, latest: pd.DataFrame, reason: str) -> tuple[Baselines, int]:
    """Return the baselines with these records' figures in place of the old, and how many entries there are of them.

    Args:
        baselines: as they are.
        latest: rows of the latest record of each cell.
        reason: one sentence, kept beside each figure.

    Raises:
        InputError: no reason, or no usable record.
    """
    if not reason.strip():
        raise InputError(
            "a change is accepted with a reason", hint="--reason='conv: unrolled, +200 B'"
        )
    usable = latest[latest["status"].astype(str) == "valid"]
    if usable.empty:
        raise InputError("there is no valid record to accept")
    entries = {entry.key: entry for entry in baselines.entries}
    images = dict(baselines.images)
    changes = list(baselines.changes)
    count = 0
    for _, rows in usable.groupby("path", sort=False, observed=True):
        run = rows.iloc[0].to_dict()
        if run["attachment"] in _EXACT:
            entry = _entry(rows, reason)
            entries[entry.key] = entry
            images[entry.build_id] = _symbols(run)
        else:
            cell = {
                name: str(run[name]) for name in ("board", "device", "model", "scheme", "engine")
            }
            changes.append(Change(**cell, time_utc=str(run["time_utc"]), reason=reason))
        count += 1
    kept = {entry.build_id for entry in entries.values()}
    images = {build: symbols for build, symbols in images.items() if build in kept and symbols}
    return Baselines(entries=list(entries.values()), images=images, changes=changes), count


def gate(baselines: Baselines, latest: pd.DataFrame) -> list[Finding]:
    """Return each run on an emulator or of a twin against its baseline."""
    entries = {entry.key: entry for entry in baselines.entries}
    cells = {entry.key[:4] for entry in baselines.entries}
    found = []
    exact = latest[latest["attachment"].astype(str).isin(_EXACT)]
    for _, rows in exact.groupby("path", sort=False, observed=True):
        run = rows.iloc[0].to_dict()
        key = _key(run)
        name = " ".join(key[:4])
        entry = entries.get(key)
        if str(run["status"]) == "invalid":
            found.append(Finding(name, State.CHANGED, (f"invalid: {run['issues']}",)))
        elif entry is None and key[:4] in cells:
            found.append(Finding(name, State.UNKNOWN_TOOLCHAIN, (f"{key[4]}; {key[5]}",)))
        elif entry is None:
            found.append(Finding(name, State.NO_BASELINE))
        elif entry.workload_id != run["workload_id"]:
            text = f"workload {entry.workload_id} → {run['workload_id']}: accept it to gate it"
            found.append(Finding(name, State.UNLIKE, (text,)))
        else:
            lines = _changes(entry, baselines, rows)
            found.append(Finding(name, State.CHANGED if lines else State.SAME, tuple(lines)))
    return found


def _key(run: Mapping[Any, Any]) -> tuple[str, ...]:
    values = {**run, "target": json.loads(run["tools"]).get("target", "")}
    return tuple(str(values[name]) for name in KEY)


def _measures(rows: pd.DataFrame) -> dict[str, float]:
    return {
        f"{row['measure']} [{row['unit']}]": float(row["median"])
        for row in rows.to_dict("records")
        if row["measure"] and row["evidence"] in _GATED
    }


def _operators(run: Mapping[Any, Any]) -> dict[str, float]:
    table = read_beside(run, "operators.json")
    if not table:
        return {}
    return {
        f"#{row['index']} {row['operator']}"
        + (f" ({row['layer']})" if row["layer"] else ""): float(row[table["unit"]])
        for row in table["rows"]
    }


def _symbols(run: Mapping[Any, Any]) -> dict[str, int]:
    """Return the larger symbols of a run's image: the small ones would be most of the file."""
    told = read_beside(run, "symbols.json") or {}
    return {name: size for name, size in told.items() if size >= _NAMED_BYTES}


def _outputs(run: Mapping[Any, Any]) -> str:
    files = json.loads(run["files"])
    names = sorted(name for name in files if name.startswith("output_"))
    return hashlib.sha256("".join(files[name]["sha256"] for name in names).encode()).hexdigest()


def _entry(rows: pd.DataFrame, reason: str) -> Entry:
    run = rows.iloc[0].to_dict()
    return Entry(
        **dict(zip(KEY, _key(run), strict=True)),
        workload_id=str(run["workload_id"]),
        program_sha256=str(run["program_sha256"]),
        measures=_measures(rows),
        outputs_sha256=_outputs(run),
        operators=_operators(run),
        build_id=str(run["build_id"]),
        run_id=str(run["run_id"]),
        commit=str(run["commit"]) + ("+dirty" if run["dirty"] else ""),
        time_utc=str(run["time_utc"]),
        reason=reason,
    )


def _changes(entry: Entry, baselines: Baselines, rows: pd.DataFrame) -> list[str]:
    run = rows.iloc[0].to_dict()
    same_program = entry.program_sha256 == run["program_sha256"]
    tonight = _measures(rows)
    lines = []
    for name in sorted(entry.measures.keys() | tonight.keys()):
        old, new = entry.measures.get(name), tonight.get(name)
        if old is None or new is None:
            lines.append(f"{name}: {'new' if old is None else 'is missing'}")
        elif not _equal(name, old, new, same_program):
            part = f" ({(new - old) / abs(old):+.2%})" if old else ""
            lines.append(f"{name}: {old:,.10g} → {new:,.10g}{part}")
    if same_program and entry.outputs_sha256 != _outputs(run):
        lines.append("outputs differ, byte for byte")
    if lines:
        if not same_program:
            lines.append(f"program {entry.program_sha256[:12]} → {run['program_sha256'][:12]}")
        lines += _largest("operator", entry.operators, _operators(run))
        lines += _largest("symbol", baselines.images.get(entry.build_id, {}), _symbols(run))
    return lines


def _equal(name: str, old: float, new: float, same_program: bool) -> bool:
    if any(name.endswith(f"[{unit}]") for unit in _FLOAT_UNITS):
        return not same_program or math.isclose(old, new, rel_tol=_FLOAT_TOLERANCE)
    if not same_program and name.endswith("[instructions]"):
        return math.isclose(old, new, rel_tol=_OTHER_PROGRAM)
    return old == new


def _largest(what: str, before: Mapping[str, float], after: Mapping[str, float]) -> Sequence[str]:
    if not before or not after:
        return []
    changed = [
        (abs(after.get(name, 0) - before.get(name, 0)), name)
        for name in before.keys() | after.keys()
        if before.get(name, 0) != after.get(name, 0)
    ]
    lines = [
        f"{what} {name}: {before.get(name, 0):,.0f} → {after.get(name, 0):,.0f}"
        for _, name in sorted(changed, key=lambda item: (-item[0], item[1]))[:_SHOWN]
    ]
    return [*lines, f"{what}: and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else lines
