"""A folder of records as one Arrow table, read through an index beside them that can always be made again."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench import record as record_module
from bench.cache import write_atomically
from bench.errors import InputError
from bench.record import (
    BESIDE_NAME,
    NO_RECORDS,
    Record,
    read_record,
    summarise,
    why_unreadable,
)

INDEX_NAME = ".index.parquet"
_log = logging.getLogger(__name__)

_TEXT = pa.dictionary(pa.int32(), pa.string())  # few values, many rows
COLUMNS: dict[str, pa.DataType] = {
    "path": _TEXT,
    "run_id": _TEXT,
    "time_utc": _TEXT,
    "board": _TEXT,
    "cpu": _TEXT,
    "clock_hz": pa.int64(),
    "device": _TEXT,
    "attachment": _TEXT,
    "model": _TEXT,
    "source_sha256": _TEXT,
    "weights_sha256": _TEXT,
    "trained": pa.bool_(),
    "scheme": _TEXT,
    "calibration_sha256": _TEXT,
    "dataset_sha256": _TEXT,
    "engine": _TEXT,
    "engine_version": _TEXT,
    "program_sha256": _TEXT,
    "pte_bytes": pa.int64(),
    "planned_bytes": pa.int64(),
    "operators": _TEXT,
    "int8_mac_fraction": pa.float64(),
    "macs": pa.int64(),
    "image_role": _TEXT,
    "build_id": _TEXT,
    "images": _TEXT,
    "compiler": _TEXT,
    "toolchain": _TEXT,
    "tools": _TEXT,
    "workload_id": _TEXT,
    "oracle": _TEXT,
    "corrections": _TEXT,
    "commit": _TEXT,
    "dirty": pa.bool_(),
    "status": _TEXT,
    "issues": _TEXT,
    "retries": pa.int64(),
    "files": _TEXT,
    "measure": _TEXT,
    "unit": _TEXT,
    "evidence": _TEXT,
    "median": pa.float64(),
    "values": pa.list_(pa.float64()),
    "low": pa.float64(),
    "high": pa.float64(),
    "band_low": pa.float64(),
    "band_high": pa.float64(),
    "n": pa.float64(),
    "minimum": pa.float64(),
    "p95": pa.float64(),
    "p99": pa.float64(),
    "maximum": pa.float64(),
    "spread": pa.float64(),
    "source": _TEXT,
}
TABLE_SCHEMA = pa.schema(COLUMNS.items())
MEASURE_COLUMNS = tuple(COLUMNS)[tuple(COLUMNS).index("measure") :]
_JSON_COLUMNS = ("operators", "images", "tools", "corrections", "files")


@dataclass(frozen=True)
class LeftOut:
    """A file below a folder of records that is none, and why."""

    path: Path
    reason: str


def load_folder(root: Path) -> tuple[pa.Table, list[LeftOut]]:
    """Return the rows of every record below a folder, from the index where it still holds, and what was left out.

    Raises:
        InputError: no such folder.
    """
    if not root.is_dir():
        raise InputError(
            "there is no such folder of records", where=str(root), hint="`make bench` makes some"
        )
    there = dict(_scan(root))
    table, known = _read_index(root)
    fresh = [name for name, stamp in there.items() if known.get(name, (0, 0, ""))[:2] != stamp]
    fresh.sort(key=lambda name: (there[name][1], name))  # as they were written
    gone = known.keys() - there.keys()
    if fresh or gone:
        if fresh or any(not known[name][2] for name in gone):
            stale = gone.union(fresh)
            keep = pa.array([name not in stale for name in _paths(table)], pa.bool_())
            table = table.filter(keep)
        known = {name: entry for name, entry in known.items() if name in there}
        table, read = _with_files(table, root, fresh)
        for name in fresh:
            known[name] = (*there[name], read.get(name, ""))
        _write_index(root, table, known)
    bad = [LeftOut(root / name, why) for name, (_, _, why) in sorted(known.items()) if why]
    return table, bad


def _paths(table: pa.Table) -> list[str]:
    column = table.column("path").combine_chunks()
    names: list[str] = column.dictionary.to_pylist() if len(column) else []
    return [names[index] for index in column.indices.to_pylist()] if names else []


def _scan(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield every file that should be a record, by its path below the root, with size and time of change."""
    folders = [""]
    while folders:
        below = folders.pop()
        with os.scandir(root / below) as entries:
            for entry in entries:
                name = f"{below}{entry.name}"
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name + "/")
                elif (
                    entry.name.endswith(".json")
                    and entry.name not in NO_RECORDS
                    and not BESIDE_NAME.fullmatch(entry.name)
                ):
                    stat = entry.stat()
                    yield name, (stat.st_size, stat.st_mtime_ns)


# --- the index ------------------------------------------------------------------------------------------------------


def _maker() -> str:
    """Return a hash of the sources that decide what an index holds."""
    sources = Path(__file__).read_bytes() + Path(record_module.__file__).read_bytes()
    return hashlib.sha256(sources).hexdigest()[:16]


def empty() -> pa.Table:
    """Return a table without rows."""
    return TABLE_SCHEMA.empty_table()


def _read_index(root: Path) -> tuple[pa.Table, dict[str, tuple[int, int, str]]]:
    """Return the index's rows and files: (size, time of change in ns, why it was left out); empty if not usable."""
    try:
        table = pq.read_table(root / INDEX_NAME, read_dictionary=list(COLUMNS))
        told = table.schema.metadata or {}
        if told.get(b"maker", b"").decode() != _maker():
            return empty(), {}
        text = zlib.decompress(base64.b64decode(told[b"files"]))
        known = {name: tuple(entry) for name, entry in json.loads(text).items()}
        return table.cast(TABLE_SCHEMA), known
    except (OSError, pa.ArrowException, KeyError, ValueError, zlib.error):
        return empty(), {}


def _write_index(root: Path, table: pa.Table, known: dict[str, tuple[int, int, str]]) -> None:
    files = base64.b64encode(zlib.compress(json.dumps(known).encode(), 1))
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata({"maker": _maker(), "files": files}),
        sink,
        compression="zstd",
    )
    try:
        write_atomically(root / INDEX_NAME, sink.getvalue().to_pybytes())
    except OSError as error:
        _log.info("no index in %s (%s): the next load reads every record again", root, error)


def _with_files(
    table: pa.Table, root: Path, names: Iterable[str]
) -> tuple[pa.Table, dict[str, str]]:
    """Return the table with the rows of these files, and the reasons of those that are no record."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    why: dict[str, str] = {}
    for name in names:
        try:
            record = read_record((root / name).read_bytes())
        except (OSError, ValueError) as error:
            why[name] = why_unreadable(error)
            continue
        _append(columns, name, record)
    if not columns["path"]:
        return table, why
    added = pa.table({name: pa.array(columns[name], kind) for name, kind in COLUMNS.items()})
    return pa.concat_tables([table, added]).unify_dictionaries(), why


def _append(columns: dict[str, list[Any]], name: str, record: Record) -> None:
    run = _run_values(name, record)
    count = max(1, len(record.measures))
    for key, value in run.items():
        columns[key].extend([value] * count)
    if not record.measures:
        for key in MEASURE_COLUMNS:
            columns[key].append("" if COLUMNS[key] == _TEXT else None)
    for measure in record.measures:
        low, high = measure.interval or (None, None)
        band_low, band_high = measure.band or (None, None)
        summary = summarise(measure.values)
        for key, value in (
            ("measure", measure.name),
            ("unit", measure.unit),
            ("evidence", measure.evidence.value),
            ("median", measure.median),
            ("values", measure.values),
            ("low", low),
            ("high", high),
            ("band_low", band_low),
            ("band_high", band_high),
            ("n", measure.n),
            ("minimum", summary.minimum),
            ("p95", summary.p95),
            ("p99", summary.p99),
            ("maximum", summary.maximum),
            ("spread", summary.spread),
            ("source", measure.source),
        ):
            columns[key].append(value)


def _run_values(name: str, record: Record) -> dict[str, Any]:
    ran = next((image for image in record.images if image.ran), None)
    values: dict[str, Any] = {
        "path": name,
        "run_id": record.run_id,
        "time_utc": record.time_utc,
        "board": record.board.id,
        "cpu": record.board.cpu,
        "clock_hz": record.board.clock_hz,
        "device": record.device,
        "attachment": record.attachment,
        "model": record.model.name,
        "source_sha256": record.model.source_sha256,
        "weights_sha256": record.model.weights_sha256,
        "trained": record.model.trained,
        "scheme": record.scheme,
        "calibration_sha256": record.calibration_sha256,
        "dataset_sha256": record.dataset_sha256,
        "engine": record.engine.name,
        "engine_version": record.engine.version,
        "program_sha256": record.program.sha256,
        "pte_bytes": record.program.pte_bytes,
        "planned_bytes": record.program.planned_bytes,
        "operators": record.program.operators,
        "int8_mac_fraction": record.program.int8_mac_fraction,
        "macs": record.program.macs,
        "image_role": ran.role if ran else "",
        "build_id": ran.build_id if ran else "",
        "images": [image.model_dump(mode="json") for image in record.images],
        "compiler": record.compiler,
        "toolchain": f"{record.compiler}; {record.tools.get('target', '')}",
        "tools": record.tools,
        "workload_id": record.workload_id,
        "oracle": record.oracle,
        "corrections": record.corrections,
        "commit": record.commit,
        "dirty": record.dirty,
        "status": record.status.value,
        "issues": "; ".join(f"{issue.code}: {issue.message}" for issue in record.issues),
        "retries": record.retries,
        "files": {key: item.model_dump(mode="json") for key, item in record.files.items()},
    }
    for key in _JSON_COLUMNS:
        values[key] = json.dumps(values[key], sort_keys=True)
    return values
