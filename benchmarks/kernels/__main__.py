"""Print a table of every kernel and shape: `python -m benchmarks.kernels [BOARD ...]`, or `make bench-kernels`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.board import find_boards
from tests.kernels_device.device import build, fast_boards, isa_of, run

if TYPE_CHECKING:
    from bench.board import Board

_DEADLINE_S = 600.0


@dataclass(frozen=True)
class Row:
    """One kernel at one shape, in instructions; `macs` is 0 where there are none."""

    operator: str
    shape: str
    macs: int
    outputs: int
    reference: int
    fast: int
    scratch_bytes: int


def parse(board: Board, lines: list[str]) -> list[Row]:
    """Return the rows that the image printed, ticks turned into instructions.

    Raises:
        ValueError: the image did not come to its end.
    """
    if not lines or lines[-1] != "end":
        raise ValueError(f"{board.id}: the image stopped early: {lines[-3:]}")
    assert board.qemu is not None
    ticks_per_instruction = board.clock_hz * 2**board.qemu.icount_shift * 1e-9
    overhead = int(lines[0].split()[1])

    def instructions(ticks: str) -> int:
        return round((int(ticks) - overhead) / ticks_per_instruction)

    rows = []
    for line in lines:
        words = line.split()
        if words[0] != "row":
            continue
        numbers = dict(zip(words[3::2], words[4::2], strict=True))
        rows.append(
            Row(
                operator=words[1].removeprefix("cortex_m::").removesuffix(".out"),
                shape=words[2],
                macs=int(numbers["macs"]),
                outputs=int(numbers["outputs"]),
                reference=instructions(numbers["reference"]),
                fast=instructions(numbers["fast"]),
                scratch_bytes=int(numbers["scratch"]),
            )
        )
    return rows


def code_bytes(elf: Path, isa: list[str]) -> dict[str, int]:
    """Return the size of the code of each of the fast kernels' object files, by name."""
    kernels = elf.parent / "runtime/CMakeFiles/rt_kernels.dir/kernels"
    sizes = {}
    for path in sorted(path for folder in isa for path in (kernels / folder).glob("*.obj")):
        said = subprocess.run(
            ["arm-none-eabi-size", path], capture_output=True, text=True, check=True
        ).stdout
        sizes[path.name.removesuffix(".obj")] = int(said.splitlines()[1].split()[0])
    return sizes


def show(board: Board, console: Console) -> None:
    """Build, run and print one board."""
    elf = build(board, "bench")
    _, lines = run(board, elf, _DEADLINE_S, counted=True)
    table = Table(title=f"{board.id} ({board.cpu}): instructions under QEMU, not cycles")
    for heading in ("kernel", "shape"):
        table.add_column(heading)
    for heading in ("reference", "fast", "ratio", "per MAC", "per output", "scratch B"):
        table.add_column(heading, justify="right")
    for row in parse(board, lines):
        table.add_row(
            row.operator,
            row.shape,
            f"{row.reference:,}",
            f"{row.fast:,}",
            f"{row.reference / row.fast:.1f}",
            f"{row.fast / row.macs:.3f}" if row.macs else "",
            f"{row.fast / row.outputs:.2f}",
            f"{row.scratch_bytes:,}",
        )
    console.print(table)
    sizes = code_bytes(elf, isa_of(board))
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
    console.print(f"code bytes, {sum(sizes.values()):,} together: {shown}\n")


def main() -> None:
    """Show the boards that are named, or all that have kernels of their own."""
    boards = [board for name in sys.argv[1:] for board in find_boards(name)] or fast_boards()
    console = Console(width=None if sys.stdout.isatty() else 140)
    for board in boards:
        show(board, console)


if __name__ == "__main__":
    main()
