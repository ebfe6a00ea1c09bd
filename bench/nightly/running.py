"""Which cells run, in what order, each in a process of its own; one night at a time."""

from __future__ import annotations

import fcntl
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench import process
from bench.cache import PROJECT
from bench.errors import DeviceBusyError
from bench.nightly.kept import FOLDER
from bench.nightly.values import Cell, Kind, Ran

if TYPE_CHECKING:
    from bench.policy import Policy

UNKNOWN_S = 60.0  # predicted time of a cell that never ran
_CELL_DEADLINE_S = 7200.0


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
        key=lambda c: (policy.place(str(c)), predicted_s.get(str(c), UNKNOWN_S), str(c)),
    )
    if budget_s is None:
        return ordered, []
    chosen: list[Cell] = []
    out: list[Cell] = []
    left = budget_s
    for cell in ordered:
        cost = predicted_s.get(str(cell), UNKNOWN_S)
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
