"""The twin of a board: the emulated machine of the same core, and where the board's memory lies on it.

A twin runs the same objects as the board's own image, linked a second time: every region has the board's length, at
the place where the machine has memory. What is counted on it is true of the board's instructions; what is static is
read from the board's own image (docs/boards.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bench.board import Board, all_boards
from bench.errors import BoardFileError

REGIONS = ("CODE", "DATA", "ARENA", "MODEL")

_REGION = re.compile(
    r"^\s*(\w+)\s*\((\w+)\)\s*:\s*ORIGIN\s*=\s*(\w+)\s*,\s*LENGTH\s*=\s*(\w+?)([KM]?)\s*$",
    re.MULTILINE,
)
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True)
class Placed:
    """A region of a memory.ld: its attributes, where it is and how long."""

    flags: str
    origin: int
    nbytes: int


def read_regions(path: Path) -> dict[str, Placed]:
    """Return the regions of a memory.ld by name.

    Raises:
        BoardFileError: CODE, DATA, ARENA or MODEL is missing or is not one number with K or M.
    """
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    found = {
        name: Placed(flags, int(origin, 0), int(length, 0) * _FACTORS[unit])
        for name, flags, origin, length, unit in _REGION.findall(text)
    }
    missing = [name for name in REGIONS if name not in found]
    if missing:
        raise BoardFileError(f"no region {', '.join(missing)} that can be read", where=str(path))
    return found


def machine_of(board: Board) -> Board | None:
    """Return the emulated board with the same core; None if there is none, or the board is emulated itself."""
    if board.qemu is not None or board.host is not None:
        return None
    machines = (one for one in all_boards().values() if one.qemu is not None)
    return next((machine for machine in machines if machine.cpu == board.cpu), None)


def twin_memory(board: Board, machine: Board) -> str:
    """Return the linker's memory file of a twin: the board's lengths at the machine's addresses.

    Raises:
        BoardFileError: a region is missing, or longer than the machine's.
    """
    path = board.folder / "memory.ld"
    wanted, there = read_regions(path), read_regions(machine.folder / "memory.ld")
    for name in REGIONS:
        if wanted[name].nbytes > there[name].nbytes:
            raise BoardFileError(
                f"{name} has {wanted[name].nbytes} bytes, {machine.id} has {there[name].nbytes} for it",
                where=str(path),
            )
    lines = [
        f"  {name} ({wanted[name].flags}) : ORIGIN = 0x{there[name].origin:08X}, LENGTH = {wanted[name].nbytes}"
        for name in REGIONS
    ]
    body = "\n".join(lines)
    return (
        f"/* Made by bench/twin.py: lengths of {board.id}, addresses of {machine.id}. */\n"
        f"MEMORY\n{{\n{body}\n}}\n\nINCLUDE sections.ld\n"
    )
