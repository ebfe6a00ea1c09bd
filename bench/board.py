"""Boards: one folder each under `boards/`, its facts in board.toml (memory is memory.ld's alone)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.cache import PROJECT
from bench.errors import BoardFileError, UnknownNameError, nearest

BOARDS = PROJECT / "boards"
EMULATED = "emulated"  # the group of all boards that QEMU runs
CHIPS = "chips"  # the group of all boards with a chip that one can buy


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Qemu(_Strict):
    """How QEMU runs the board.

    Attributes:
        icount_shift: an instruction takes 2**icount_shift ns of virtual time.
        twins_only: it stands in for boards of its core, and is not of the group `emulated`.
    """

    machine: str
    twins_only: bool = False
    icount_shift: int = Field(ge=0, le=10)
    extra: list[str] = []


class ChipId(_Strict):
    """A register that tells one chip from another: what it must read, under a mask."""

    address: int
    value: int
    mask: int = 0xFFFFFFFF


class Pyocd(_Strict):
    """How pyOCD reaches the board.

    Attributes:
        target: pyOCD's name of the chip.
        pack: the CMSIS-Pack that describes it, by its id in packs.lock; empty if pyOCD knows it by itself.
        chip_id: what makes sure that it is this chip.
        baud: of the serial port.
    """

    target: str
    chip_id: list[ChipId] = []
    pack: str = ""
    baud: int = Field(default=115_200, gt=0)


class Host(_Strict):
    """The board is a process of this machine."""


class Board(_Strict):
    """A board.toml.

    Attributes:
        cpu: GCC's -mcpu string, which is ExecuTorch's target string too.
        clock_hz: of the core and its counter.
        evidence: what the counter's figures are (see DESIGN: count, wallclock, silicon).
        unverified: what is not seen yet, of boards with a chip. `registers`: addresses and fields are the manual's words
            alone, no machine-readable file was there to hold them against. `hardware`: it never ran on a real board.
    """

    id: str
    name: str
    description: str
    aliases: list[str] = []
    cpu: str
    fpu_flags: list[str] = []
    clock_hz: int = Field(gt=0)
    counter: Literal["systick", "dwt", "clock"]
    isa: list[Literal["dsp", "mve", "fpu", "fpu-dp"]] = []
    evidence: Literal["count", "wallclock", "silicon", "fvp"]
    unverified: list[Literal["registers", "hardware"]] = []
    qemu: Qemu | None = None
    pyocd: Pyocd | None = None
    host: Host | None = None

    @property
    def folder(self) -> Path:
        """Folder of the board's sources."""
        return BOARDS / self.id


def _did_you_mean(key: str) -> str:
    known = [key for model in (Board, Qemu, Pyocd, ChipId) for key in model.model_fields]
    return nearest(key, known)


def read_board(path: Path) -> Board:
    """Read a board.toml.

    Raises:
        BoardFileError: names the file, the key and what is wrong with it.
    """
    try:
        raw = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BoardFileError(str(error), where=str(path)) from error
    try:
        board = Board.model_validate(raw)
    except ValidationError as error:
        # a misspelt key is both unknown and missing: the unknown one says more
        found = error.errors()
        first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
        key = ".".join(str(part) for part in first["loc"])
        hint = _did_you_mean(str(first["loc"][-1])) if first["type"] == "extra_forbidden" else ""
        raise BoardFileError(f"{key}: {first['msg']}", where=str(path), hint=hint) from error
    if board.id != path.parent.name:
        raise BoardFileError(f"id {board.id!r} is not the folder's name", where=str(path))
    return board


@cache
def all_boards() -> dict[str, Board]:
    """Return every board by id, in order of id."""
    return {path.parent.name: read_board(path) for path in sorted(BOARDS.glob("*/board.toml"))}


def find_boards(name: str) -> list[Board]:
    """Return the boards that a --board option names: an id, an alias, or a group, `emulated` or `chips`.

    Raises:
        UnknownNameError: with the list and the nearest name.
    """
    boards = all_boards()
    if name == EMULATED:
        return [b for b in boards.values() if b.qemu is not None and not b.qemu.twins_only]
    if name == CHIPS:
        return [board for board in boards.values() if board.evidence == "silicon"]
    for board in boards.values():
        if name == board.id or name in board.aliases:
            return [board]
    raise UnknownNameError(f"no board {name!r}", hint=nearest(name, [*boards, EMULATED, CHIPS]))
