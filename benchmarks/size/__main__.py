"""Compare with upstream's own runtime: `python -m benchmarks.size [BOARD ...]`, or `make bench-size`.

Programs, inputs, expected outputs and upstream's figures lie in `tests/data/upstream`. Of the deployment image, without the
`.pte`: Flash against upstream's smallest build, the tables that lie beside the `.pte`, what loading takes from the arena, the
deepest stack, and instructions of loading and executing under QEMU. Where the board's kernels read packed weights, the last column is with `--pack`.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench import pipeline
from bench.board import Board, find_boards
from bench.bundle import Options
from bench.errors import InputError, LabError
from bench.foreign import foreign_program
from bench.rewrite.programs import pack_of, packed

if TYPE_CHECKING:
    from bench.program import Program
    from bench.record import Record

UPSTREAM = Path(__file__).parents[2] / "tests" / "data" / "upstream"
BOARDS = ("mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547")
_PARTS = ("flash_runtime", "flash_kernels", "flash_firmware")


@dataclass(frozen=True)
class Row:
    """Ours and upstream's of one program; `packed` is 0 where nothing can be packed, upstream's load where it is unknown.

    `tables` are bytes beside the `.pte`, which upstream has none of; `load` is that of the deployment image, from these
    tables; `checked` that of the lab image, with every check.
    """

    model: str
    flash: tuple[int, int]
    tables: int
    method: tuple[int, int]
    stack: int
    load: tuple[int, int]
    checked: tuple[int, int]
    execute: tuple[int, int]
    packed: int


def measure(board: Board, program: Program, expected: bytes) -> Record:
    """Run a program on a board and return its record.

    Raises:
        LabError: the run failed.
        ValueError: its output is not upstream's.
    """
    image = pipeline.ensure_images([board], lambda _text: None)[board.id]
    if isinstance(image, LabError):
        raise image
    plan = pipeline.Plan(Options(warmup=0, iterations=1), estimate=False)
    case = pipeline.Case(board, program.manifest.model, program.manifest.scheme)
    attempt = pipeline.Attempt(case, program, image, pipeline.target_for(board), plan)
    outcome = pipeline.run_case(attempt)
    if outcome.log.outputs[0, 0] != expected:
        raise ValueError(f"{program.manifest.model} on {board.id}: not upstream's output")
    return outcome.record


def _value(record: Record, name: str, unit: str = "bytes") -> int:
    return round(next(m.median for m in record.measures if (m.name, m.unit) == (name, unit)))


def compare(board: Board, figures: dict[str, str]) -> Row:
    """Measure one line of upstream's figures on a board of its core."""
    cpu = "cortex-m55" if board.cpu == "cortex-m55" else "cortex-m4"
    stem = UPSTREAM / f"{figures['model']}_{cpu}"
    program = foreign_program(Path(f"{stem}.pte"), (Path(f"{stem}.in.bin"),))
    expected = Path(f"{stem}.out.bin").read_bytes()
    record = measure(board, program, expected)
    theirs = int(figures["load_instructions"] or 0)
    smaller = 0
    if pack_of(board):
        try:
            other = measure(board, packed(program, board), expected)
            smaller = _value(other, "latency_deployment", "instructions")
        except InputError:  # none of its calls can be packed
            smaller = 0
    return Row(
        figures["model"],
        (sum(_value(record, part) for part in _PARTS), int(figures["flash_min_bytes"])),
        _value(record, "flash_tables"),
        (_value(record, "ram_method"), int(figures["method_bytes"])),
        _value(record, "ram_stack"),
        (_value(record, "load_deployment", "instructions"), theirs),
        (_value(record, "load", "instructions"), theirs),
        (_value(record, "latency_deployment", "instructions"), int(figures["instructions"])),
        smaller,
    )


def _against(pair: tuple[int, int]) -> str:
    ours, theirs = pair
    return f"{ours:,} ({ours / theirs:.2f}x)" if theirs else f"{ours:,}"


def show(board: Board, console: Console) -> None:
    """Measure and print one board."""
    table = Table(
        title=f"{board.id} ({board.cpu}): the deployment image, against upstream's smallest"
    )
    for heading in (
        "model",
        "Flash B",
        "tables B",
        "method B",
        "stack B",
        "load",
        "every check",
        "execute",
        "--pack",
    ):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    with (UPSTREAM / "figures.csv").open() as file:
        rows = [compare(board, one) for one in csv.DictReader(file) if one["cpu"] == board.cpu]
    for row in rows:
        table.add_row(
            row.model,
            _against(row.flash),
            f"{row.tables:,}",
            _against(row.method),
            f"{row.stack:,}",
            _against(row.load),
            _against(row.checked),
            _against(row.execute),
            _against((row.packed, row.execute[1])) if row.packed else "",
        )
    console.print(table)


def main() -> None:
    """Show the boards that are named, or one of each core that upstream was measured on."""
    names = sys.argv[1:] or BOARDS
    console = Console(width=None if sys.stdout.isatty() else 140)
    for name in names:
        for board in find_boards(name):
            show(board, console)


if __name__ == "__main__":
    main()
