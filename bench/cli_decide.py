"""Commands that turn records into decisions; `bench.cli` registers them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bench.errors import UnknownNameError, nearest

if TYPE_CHECKING:
    import pandas as pd


def register(app: typer.Typer) -> None:
    """Add this module's commands to the `bench` command."""


def load_told(folders: Sequence[Path]) -> pd.DataFrame:
    """Load records, and tell on standard error what was left out."""
    from bench import frame  # noqa: PLC0415  pandas only where a command needs it

    found = frame.load(*folders)
    for item in found.attrs["left_out"]:
        typer.echo(f"left out {item.path}: {item.reason}", err=True)
    return found


def export(
    root: Path,
    file_format: str,
    out: Path | None,
    boards: Sequence[str],
    models: Sequence[str],
    *,
    every: bool,
) -> None:
    """Write the measures of records as a file; `bench show --format`."""
    from bench import frame  # noqa: PLC0415  as above

    kinds = [kind.value for kind in frame.Format]
    if file_format not in kinds:
        raise UnknownNameError(f"no format {file_format!r}", hint=nearest(file_format, kinds))
    found = load_told([root])
    if boards:
        found = found[found["board"].isin(boards)]
    if models:
        found = found[found["model"].isin(models)]
    if not every:
        found = frame.latest(found)
    data = frame.export(found, frame.Format(file_format))
    if out is None:
        sys.stdout.buffer.write(data)
    else:
        out.write_bytes(data)
