"""Reports of `bench bring-up`: what shows that boards of a type work with this lab, kept beside the site file."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bench.cache import write_atomically
from bench.errors import SiteFileError
from bench.site import site_path

FOLDER = "bring_up"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Step(_Strict):
    """One check.

    Attributes:
        told: what was seen, or what failed; of a step that was not tried, why.
    """

    name: str
    passed: bool
    told: str
    seconds: float


class Report(_Strict):
    """A board's bring-up.

    Attributes:
        attachment: `probe`; a simulated device's proves nothing of a board with a chip.
        build_id: of the image that was flashed.
    """

    schema_version: int = 1
    board: str
    device: str
    probe_uid: str
    attachment: str
    time_utc: str
    commit: str
    dirty: bool
    build_id: str
    steps: list[Step]

    @property
    def passed(self) -> bool:
        """Whether every step passed."""
        return bool(self.steps) and all(step.passed for step in self.steps)


def report_path(board_id: str) -> Path:
    """Return where this site keeps the report of a board."""
    return site_path().parent / FOLDER / f"{board_id}.json"


def write_report(report: Report) -> Path:
    """Write a report, in place of an earlier one; return its file."""
    path = report_path(report.board)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, report.model_dump_json(indent=1).encode() + b"\n")
    return path


def is_proven(board_id: str) -> bool:
    """Whether this site has a report that a real board of this type passed everything.

    Raises:
        SiteFileError: there is a report that cannot be read.
    """
    path = report_path(board_id)
    if not path.exists():
        return False
    try:
        report = Report.model_validate_json(path.read_text())
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise SiteFileError(
            f"not a report of a bring-up: {error}",
            where=str(path),
            hint=f"`bench bring-up --board={board_id}` makes it anew",
        ) from error
    return report.passed and report.attachment == "probe" and report.board == board_id
