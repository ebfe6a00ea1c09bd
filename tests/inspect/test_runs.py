"""Per-operator figures of real runs: on every emulated core, rows and remainder are the latency."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import operators
from bench.board import Board, find_boards
from bench.bundle import Options
from bench.errors import LabError
from bench.etdump import write_etdump
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Outcome, Plan, ensure_images, run_case, target_for

VECTORS = Path(__file__).parents[1] / "data" / "upstream"
DISPATCH = (
    300  # instructions that the runtime may take from one instruction of a program to the next
)


def run(board: Board, model: str, resets: int = 1) -> Outcome:
    """Run one of upstream's programs with operator ticks."""
    cpu = "cortex-m55" if board.cpu == "cortex-m55" else "cortex-m4"
    pte = VECTORS / f"{model}_{cpu}.pte"
    image = ensure_images([board], print)[board.id]
    assert not isinstance(image, LabError), image
    plan = Plan(
        Options(iterations=2, operator_ticks=True),
        deployment=False,
        estimate=False,
        resets=resets,
    )
    case = Case(board, str(pte), "pte")
    return run_case(Attempt(case, foreign_program(pte), image, target_for(board), plan))


@pytest.mark.qemu
@pytest.mark.parametrize("board", find_boards("emulated"), ids=lambda board: board.id)
def test_rows_and_remainder_are_the_latency(board: Board) -> None:
    """Counted apart from the latency, the instructions of a program leave only the dispatch between them."""
    outcome = run(board, "ds_cnn", resets=2)
    table = operators.read_table(outcome.files[operators.FILE])
    latency = outcome.record.find("latency", "instructions")
    rows = outcome.record.find("per_operator", "instructions")

    assert latency is not None
    assert rows is not None
    assert latency.median == sum(row.value for row in table.rows) + table.remainder
    assert rows.median == sum(row.value for row in table.rows)
    assert 0 <= table.remainder <= DISPATCH * len(table.rows)
    assert [row.info.index for row in table.rows] == list(range(len(table.rows)))
    assert abs(sum(row.share for row in table.rows) + table.remainder / table.latency - 1) < 1e-9
    assert {0} == {m.median for m in outcome.record.measures if m.name == "determinism"}


@pytest.mark.qemu
@pytest.mark.filterwarnings("ignore")
def test_inspector_opens_the_etdump_of_a_real_run(tmp_path: Path) -> None:
    """ExecuTorch's own Inspector finds every instruction of a run on the emulated M4, each with its instructions."""
    from executorch.devtools import Inspector  # noqa: PLC0415  imports torch, which takes seconds
    from executorch.devtools.inspector import TimeScale  # noqa: PLC0415

    table = operators.read_table(run(find_boards("mps2-an386")[0], "linear").files[operators.FILE])
    path = tmp_path / "run.etdp"
    path.write_bytes(write_etdump(table))
    cycles = TimeScale.CYCLES
    (block,) = Inspector(str(path), source_time_scale=cycles, target_time_scale=cycles).event_blocks

    assert "instructions" == block.name
    assert [(event.name, event.perf_data.raw) for event in block.events] == [
        ("Method::execute", [table.latency]),
        *((f"native_call_{row.info.operator}", [row.value]) for row in table.rows),
    ]


def test_milliseconds_on_the_host() -> None:
    """A process of this machine has the same rows, in milliseconds."""
    outcome = run(find_boards("host")[0], "linear")
    raw = json.loads(outcome.files[operators.FILE])

    assert ("ms", "wallclock") == (raw["unit"], raw["evidence"])
    assert all(row["ms"] >= 0 for row in raw["rows"])
