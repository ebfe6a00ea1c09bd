"""Write and read records: `results/<board>/<model>/<UTC>-<scheme>-<run id>.json`, attachments beside them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.cache import PROJECT, write_atomically
from bench.errors import RecordError
from bench.record import (
    BESIDE_NAME,
    NO_RECORDS,
    Attachment,
    Record,
    read_record,
    why_unreadable,
)

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = PROJECT / "results"


@dataclass(frozen=True)
class Unreadable:
    """A file that is no record, and why."""

    path: Path
    reason: str


def save(record: Record, attachments: dict[str, bytes], root: Path = RESULTS) -> Path:
    """Write a record and its attachments, the record last, so that a record is never without its files.

    Args:
        record: without `files`, which are filled here.
        attachments: suffix (`transcript.txt`) -> bytes.
        root: folder of the records.

    Raises:
        RecordError: the folder cannot be written; nothing half-written stays.
    """
    stamp = record.time_utc.replace("-", "").replace(":", "")
    folder = root / record.board.id / record.model.name
    stem = f"{stamp}-{record.scheme}-{record.run_id}"
    files = {
        suffix: Attachment(file=f"{stem}.{suffix}", sha256=hashlib.sha256(data).hexdigest())
        for suffix, data in attachments.items()
    }
    whole = record.model_copy(update={"files": files})
    path = folder / f"{stem}.json"
    try:
        for suffix, data in attachments.items():
            write_atomically(folder / f"{stem}.{suffix}", data)
        write_atomically(path, whole.model_dump_json(indent=1, by_alias=True).encode() + b"\n")
    except OSError as error:
        raise RecordError(
            f"the record of {record.model.name} on {record.board.id} cannot be written: {error}",
            where=str(folder),
            hint="free the disk or pass --record=DIR",
        ) from error
    return path


def read_attachment(path: Path, record: Record, suffix: str) -> bytes:
    """Return a file beside a record.

    Args:
        path: of the record.

    Raises:
        RecordError: the run left none, or it is not the file that was written.
    """
    attachment = record.files.get(suffix)
    if attachment is None:
        raise RecordError(
            f"the run has no {suffix}", where=str(path), hint="run it again with this version"
        )
    try:
        data = (path.parent / attachment.file).read_bytes()
    except OSError as error:
        raise RecordError(f"cannot be read: {error}", where=attachment.file) from error
    if hashlib.sha256(data).hexdigest() != attachment.sha256:
        raise RecordError(
            "it is not what the run wrote", where=attachment.file, hint="the file was changed"
        )
    return data


def load(root: Path = RESULTS) -> tuple[list[tuple[Path, Record]], list[Unreadable]]:
    """Read every record below `root`, oldest first; files that are no record are named, not fatal."""
    good: list[tuple[Path, Record]] = []
    bad: list[Unreadable] = []
    for path in sorted(root.rglob("*.json")):
        if BESIDE_NAME.fullmatch(path.name) or path.name in NO_RECORDS:
            continue
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            continue  # what a nightly keeps for itself
        try:
            good.append((path, read_record(path.read_bytes())))
        except (OSError, ValueError) as error:
            bad.append(Unreadable(path, why_unreadable(error)))
    return sorted(good, key=lambda item: item[1].time_utc), bad
