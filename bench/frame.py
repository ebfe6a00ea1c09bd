"""All records in one pandas frame, through an index beside them that can always be made again.

A row is one measure of one record; a record without measures (an invalid one) has one row whose `measure` is empty.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.record_index import COLUMNS, MEASURE_COLUMNS, TABLE_SCHEMA, empty, load_folder

if TYPE_CHECKING:
    import pandas as pd


_log = logging.getLogger(__name__)

RUN_COLUMNS = tuple(name for name in COLUMNS if name not in MEASURE_COLUMNS)
CELL = ("board", "device", "model", "scheme", "engine")  # what one place in the matrix is


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
        table, bad = load_folder(Path(folder))
        tables.append((Path(folder), table))
        left_out += bad
    whole = _to_pandas(tables)
    left_out = list({item.path.resolve(): item for item in left_out}.values())
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
        bare = frame.copy(deep=False)
        bare.attrs = {}  # what was left out is told by the command; pandas would write it as JSON
        bare.to_parquet(buffer, index=False)
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


def _to_pandas(tables: list[tuple[Path, pa.Table]]) -> pd.DataFrame:
    """Return the tables as one frame, oldest record first; paths are made whole."""
    whole: list[pa.Table] = []
    seen: set[str] = set()
    for root, table in tables:
        added = _with_root(table, root)
        names = set(added.column("path").unique().to_pylist())
        if names & seen:  # a folder below another, or named twice: a record counts once
            again = pc.is_in(added.column("path").cast(pa.string()), pa.array(sorted(seen)))
            added = added.filter(pc.invert(again))
        seen |= names
        whole.append(added)
    whole = whole or [empty()]
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
        0, TABLE_SCHEMA.field("path"), pa.DictionaryArray.from_arrays(column.indices, names)
    )
