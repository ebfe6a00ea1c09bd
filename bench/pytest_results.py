"""What the cases of a pytest run gave: carried from pytest-xdist's workers to their controller, printed at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.record import Record
from bench.store import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

_ATTRIBUTE = "bench_results"  # of a test's report; xdist sends a report's attributes along


@dataclass
class Results:
    """Records and words of a run.

    Attributes:
        records: each with its file, None if it was not written.
        export: lines of what the export says.
        said: what a worker, which has no terminal, wanted to tell the user.
        target_seconds: inside the targets.
    """

    records: list[tuple[Path | None, Record]] = field(default_factory=list)
    export: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    target_seconds: float = 0.0

    def hand_over(self, report: pytest.TestReport) -> None:
        """Put what has come up to now on a worker's report; it counts once."""
        if not (self.records or self.said or self.export):
            return
        told = {
            "records": [
                (str(path or ""), record.model_dump_json()) for path, record in self.records
            ],
            "export": self.export,
            "said": self.said,
            "target_seconds": self.target_seconds,
        }
        setattr(report, _ATTRIBUTE, json.dumps(told))
        self.__init__()  # type: ignore[misc]

    def take_over(self, report: pytest.TestReport, say: Callable[[str], None]) -> None:
        """Take what a worker put on its report; say what it said."""
        text = getattr(report, _ATTRIBUTE, "")
        if not text:
            return
        told: dict[str, Any] = json.loads(text)
        self.records += [
            (Path(path) if path else None, Record.model_validate_json(record))
            for path, record in told["records"]
        ]
        self.export += [line for line in told["export"] if line not in self.export]
        self.target_seconds += told["target_seconds"]
        for line in told["said"]:
            if line not in self.said:  # every worker builds the same firmware
                self.said.append(line)
                say(line)


def print_results(terminal: pytest.TerminalReporter, results: Results) -> None:
    """Print the records as a table, and where they are."""
    if not results.records:
        return
    from rich.console import Console  # noqa: PLC0415  keeps plain test runs free of it

    from bench import show, show_chips, show_memory  # noqa: PLC0415  as above

    if results.export:
        terminal.section("what the export says")
        terminal.write_line("\n".join(results.export))
    terminal.section("benchmark records")
    console = Console(width=240, soft_wrap=True)
    with console.capture() as captured:
        made = [record for _, record in results.records]
        for table in [*show.tables(made), *show_memory.parts_tables(made)]:
            console.print(table)
        if (chips := show_chips.chips_table(made)) is not None:
            console.print(chips)
    terminal.write_line(captured.get().rstrip())
    folders = {path.parent.parent.parent for path, _ in results.records if path is not None}
    for folder in sorted(folders):
        shown = "bench show" if folder == RESULTS else f"bench show {folder}"
        terminal.write_line(
            f"records: {folder} ({len(results.records)} written); `{shown}` prints them"
        )
    terminal.write_line(f"time inside the targets: {results.target_seconds:.1f} s")
