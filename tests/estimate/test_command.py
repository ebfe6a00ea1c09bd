"""`python -m bench.estimate`: what it shows, and when it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from bench.estimate import __main__ as command
from bench.estimate.dump import Block, Count, Dump, Region, write_dump
from bench.estimate.table import table_of

if TYPE_CHECKING:
    import pytest

RUNNER = CliRunner()


def test_the_two_kinds_of_evidence_are_shown_apart() -> None:
    """Transcription first, anchors in another table, bands that anchors alone set; all is well."""
    done = RUNNER.invoke(command.app)

    assert done.exit_code == 0, done.output
    check, anchors = done.output.split("Independent anchors")
    assert "Transcription check" in check
    assert "i.MX RT1160" not in check
    assert "DDI 0484C" not in anchors
    assert "not established" in anchors


def test_a_table_that_departs_from_its_manual_and_its_fit_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A moved number is named, and the exit code is 1."""
    moved = table_of("cortex-m4").with_values({"taken.direct": 1.5, "taken.table": 1.0})
    real = command.table_of
    monkeypatch.setattr(
        command, "table_of", lambda core: moved if core == moved.core else real(core)
    )
    monkeypatch.setattr(
        "bench.estimate.transcription.table_of",
        lambda core: moved if core == moved.core else real(core),
    )

    done = RUNNER.invoke(command.app)

    assert done.exit_code == 1
    assert "taken.direct is 1.5, the fit gives 1" in done.output
    assert "cortex-m4: tbb [r0, r1]: 3, not 6 to 8" in done.output


def test_a_dump_is_summarised_by_iteration(tmp_path: Path) -> None:
    """Two iterations of one load and a taken branch: the walk and the event, each halved."""
    block = Block(0x100, 2, bytes.fromhex("0868fee7"))
    regions = (Region(0, 0, 0, {}), Region(1, 8, 0, {0: Count(4, 4, 4)}))
    path = tmp_path / "a.dump"
    path.write_text("".join(write_dump(Dump((block,), regions))))

    done = RUNNER.invoke(
        command.app,
        ["summarise", str(path), "--core", "cortex-m4", "--label", "x", "--iterations", "2"],
    )
    (found,) = json.loads(done.output)

    assert ("x", 4.0, 6.0, {"taken.direct": 2.0}) == (
        found["label"],
        found["instructions"],
        found["walk_cycles"],
        found["events"],
    )
