"""All records in one pandas frame, through an index beside them that can always be made again.

A row is one measure of one record; a record without measures (an invalid one) has one row whose `measure` is empty.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import logging
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from bench import record as record_module
from bench.cache import write_atomically
from bench.errors import InputError
from bench.record import BESIDE_NAME, NO_RECORDS, SCHEMA, Record

if TYPE_CHECKING:
    import pandas as pd

INDEX_NAME = ".index.parquet"
_log = logging.getLogger(__name__)

_TEXT = pa.dictionary(pa.int32(), pa.string())  # few values, many rows
_COLUMNS: dict[str, pa.DataType] = {
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
    "source": _TEXT,
}
_MEASURE_COLUMNS = tuple(_COLUMNS)[tuple(_COLUMNS).index("measure") :]
RUN_COLUMNS = tuple(name for name in _COLUMNS if name not in _MEASURE_COLUMNS)
CELL = ("board", "device", "model", "scheme", "engine")  # what one place in the matrix is
_SCHEMA = pa.schema(_COLUMNS.items())
_JSON_COLUMNS = ("operators", "images", "tools", "corrections", "files")


@dataclass(frozen=True)
class LeftOut:
    """A file below a folder of records that is none, and why."""

    path: Path
    reason: str


def load(*folders: str | Path) -> pd.DataFrame:
    """Load every record below these folders, oldest first.

    What is damaged or foreign is left out, named in a warning of the log and in `frame.attrs["left_out"]`, a list of
    `LeftOut`. Text columns are categories; `path` is absolute. A file is read and validated again when its size or time of change differ
    from the index's; an index that cannot be written costs time, nothing else.

    Raises:
        InputError: a folder is not there.
    """
    tables, left_out = [], []
    for folder in folders:
        table, bad = _load_folder(Path(folder))
        tables.append((Path(folder), table))
        left_out += bad
    whole = _to_pandas(tables)
    for item in left_out:
        _log.warning("left out %s: %s", item.path, item.reason)
    whole.attrs["left_out"] = left_out
    return whole


def runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a record, without its measures."""
    return frame.drop_duplicates("path")[list(RUN_COLUMNS)].reset_index(drop=True)


def latest(frame: pd.DataFrame, cell: Iterable[str] = CELL) -> pd.DataFrame:
    """Return the rows of the latest record of each cell."""
    last = frame.drop_duplicates("path").drop_duplicates(list(cell), keep="last")["path"]
    return frame[frame["path"].isin(last)].reset_index(drop=True)


class Format(StrEnum):
    """What a frame can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    MARKDOWN = "markdown"


_MARKDOWN_COLUMNS = (
    *("board", "model", "scheme", "engine", "measure", "unit", "evidence", "median"),
    *("low", "high", "band_low", "band_high", "status", "run_id"),
)


def export(frame: pd.DataFrame, kind: Format) -> bytes:
    """Return the frame as a file: every column and row, in Markdown those that people read."""
    if kind is Format.PARQUET:
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if kind is Format.JSON:
        text: str = frame.to_json(orient="records", double_precision=15, indent=1)
        return text.encode() + b"\n"
    if kind is Format.CSV:
        lists = [
            "" if values is None else json.dumps([float(v) for v in values])
            for values in frame["values"]
        ]
        csv: str = frame.assign(values=lists).to_csv(index=False)
        return csv.encode()
    lines = ["| " + " | ".join(_MARKDOWN_COLUMNS) + " |", "|---" * len(_MARKDOWN_COLUMNS) + "|"]
    lines += [
        "| " + " | ".join(_cell(value) for value in row) + " |"
        for row in frame[list(_MARKDOWN_COLUMNS)].itertuples(index=False)
    ]
    return ("\n".join(lines) + "\n").encode()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:,.10g}"
    return str(value).replace("|", "\\|")


def read_beside(run: Mapping[Any, Any], suffix: str) -> Any:
    """Return the JSON file beside a record, None if it has none or the file is not the one that was hashed."""
    entry = json.loads(run["files"]).get(suffix)
    if entry is None:
        return None
    try:
        data = (Path(run["path"]).parent / entry["file"]).read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        return None
    return json.loads(data)


def _load_folder(root: Path) -> tuple[pa.Table, list[LeftOut]]:
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


def _empty() -> pa.Table:
    return _SCHEMA.empty_table()


def _read_index(root: Path) -> tuple[pa.Table, dict[str, tuple[int, int, str]]]:
    """Return the index's rows and files: (size, time of change in ns, why it was left out); empty if not usable."""
    try:
        table = pq.read_table(root / INDEX_NAME, read_dictionary=list(_COLUMNS))
        told = table.schema.metadata or {}
        if told.get(b"maker", b"").decode() != _maker():
            return _empty(), {}
        text = zlib.decompress(base64.b64decode(told[b"files"]))
        known = {name: tuple(entry) for name, entry in json.loads(text).items()}
        return table.cast(_SCHEMA), known
    except (OSError, pa.ArrowException, KeyError, ValueError, zlib.error):
        return _empty(), {}


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
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    why: dict[str, str] = {}
    for name in names:
        try:
            record = read_record((root / name).read_bytes())
        except (OSError, ValueError) as error:
            why[name] = _reason(error)
            continue
        _append(columns, name, record)
    if not columns["path"]:
        return table, why
    added = pa.table({name: pa.array(columns[name], kind) for name, kind in _COLUMNS.items()})
    return pa.concat_tables([table, added]).unify_dictionaries(), why


def read_record(data: bytes) -> Record:
    """Read a record of this schema or an older one.

    Raises:
        ValueError: it is damaged, foreign or of a newer lab, with the reason.
    """
    raw = json.loads(data)
    if not isinstance(raw, dict) or "run_id" not in raw or "measures" not in raw:
        raise ValueError("JSON, but no record of this lab")
    schema = raw.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(f"schema {schema} is of a newer lab; this one reads up to {SCHEMA}")
    return Record.model_validate_json(data)


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        return f"{error.error_count()} keys are wrong, the first: {key}: {first['msg']}"
    if isinstance(error, json.JSONDecodeError):
        return f"not whole JSON: {error}"
    return str(error).splitlines()[0]


def _append(columns: dict[str, list[Any]], name: str, record: Record) -> None:
    run = _run_values(name, record)
    count = max(1, len(record.measures))
    for key, value in run.items():
        columns[key].extend([value] * count)
    if not record.measures:
        for key in _MEASURE_COLUMNS:
            columns[key].append("" if _COLUMNS[key] == _TEXT else None)
    for measure in record.measures:
        low, high = measure.interval or (None, None)
        band_low, band_high = measure.band or (None, None)
        for key, value in (
            ("measure", measure.name),
            ("unit", measure.unit),
            ("evidence", measure.evidence.value),
            ("median", measure.median),
            ("values", measure.values),  # noqa: PD011  a measure's samples, not pandas
            ("low", low),
            ("high", high),
            ("band_low", band_low),
            ("band_high", band_high),
            ("n", measure.n),
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


def _to_pandas(tables: list[tuple[Path, pa.Table]]) -> pd.DataFrame:
    """Return the tables as one frame, oldest record first; paths are made whole."""
    whole = [_with_root(table, root) for root, table in tables] or [_empty()]
    frame: pd.DataFrame = pa.concat_tables(whole).unify_dictionaries().to_pandas()
    times = frame["time_utc"].cat
    rank = np.empty(len(times.categories), np.int64)
    rank[np.argsort(times.categories.to_numpy(dtype=str))] = np.arange(len(rank))
    order = np.argsort(rank[times.codes.to_numpy()], kind="stable")
    return frame.take(order).reset_index(drop=True)


def _with_root(table: pa.Table, root: Path) -> pa.Table:
    column = table.column("path").combine_chunks()
    if not len(column):
        return table
    whole = root.resolve()
    names = pa.array([f"{whole}/{name}" for name in column.dictionary.to_pylist()])
    return table.set_column(
        0, _SCHEMA.field("path"), pa.DictionaryArray.from_arrays(column.indices, names)
    )
