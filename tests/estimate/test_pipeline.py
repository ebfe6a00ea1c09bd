"""The estimate in a record, as the pipeline makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.board import find_boards
from bench.build import build_image
from bench.bundle import Options
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Outcome, Plan, run_case, target_for

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
pytestmark = pytest.mark.qemu


def _run(plan: Plan) -> Outcome:
    board = find_boards("mps2-an386")[0]
    stem = UPSTREAM / "linear_cortex-m4"
    program = foreign_program(Path(f"{stem}.pte"), (Path(f"{stem}.in.bin"),))
    case = Case(board, program.manifest.model, program.manifest.scheme)
    return run_case(Attempt(case, program, build_image(board), target_for(board), plan))


def test_a_record_has_the_estimate_beside_the_count() -> None:
    """Same names, another unit and evidence; only the estimate has band and table."""
    record = _run(Plan(Options(warmup=1, iterations=2), deployment=False)).record
    counted, estimated = (
        record.find("latency", "instructions"),
        record.find("latency", "est_cycles"),
    )

    assert counted is not None
    assert estimated is not None
    assert ("count", None, "") == (counted.evidence.value, counted.band, counted.table)
    assert "estimate" == estimated.evidence.value
    assert estimated.band is not None
    assert estimated.band[0] < estimated.median < estimated.band[1]
    assert estimated.median > counted.median


def test_an_estimate_can_be_left_out() -> None:
    """Then nothing of it is in the record, and the emulator runs once less."""
    record = _run(Plan(Options(iterations=1), deployment=False, estimate=False)).record

    assert record.find("latency", "est_cycles") is None
