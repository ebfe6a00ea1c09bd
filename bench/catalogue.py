"""Boards that one may think of buying: facts for selection, without firmware (boards/catalogue/<id>/entry.toml).

An entry has no image of its own and no price: prices are the user's. Its twin is the emulated board of the same core:
that board's images run, fit is judged by the entry's memories, time by its clock and its memory_timing.toml. What is
not from a source at hand is named in `unverified`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.board import BOARDS, CHIPS, EMULATED, Board, all_boards
from bench.board import find_boards as find_supported
from bench.errors import BoardFileError, UnknownNameError, nearest
from bench.fit import Memory, read_memories
from bench.twin import machine_of

CATALOGUE = BOARDS / "catalogue"
ENTRIES = "catalogue"  # the group of all entries
PURCHASABLE = "all"  # chips and entries


class Listed(Board):
    """A board of the catalogue as a board that one can ask for; its folder has no firmware."""

    @property
    def folder(self) -> Path:
        """Folder of the entry."""
        return CATALOGUE / self.id


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Store(_Strict):
    """A memory of the chip or beside it."""

    name: str
    kind: Literal["Flash", "RAM"]
    nbytes: int = Field(alias="bytes", gt=0)


class Entry(_Strict):
    """A board of the catalogue.

    Attributes:
        cpu: GCC's -mcpu string.
        source: where the facts are from.
        unverified: keys whose value was not seen in a source; never on hardware, none was.
    """

    id: str
    name: str
    aliases: list[str] = []
    description: str
    cpu: str
    clock_hz: int = Field(gt=0)
    source: str = Field(min_length=1)
    unverified: list[Literal["cpu", "clock_hz", "memory"]]
    memory: list[Store] = Field(min_length=2, max_length=2)

    def nbytes(self, kind: str) -> int:
        """Return the bytes of the memory of a kind."""
        return sum(store.nbytes for store in self.memory if store.kind == kind)

    def memories(self) -> tuple[Memory, ...]:
        """Return its memories: code and weights share the Flash, all else the RAM."""
        regions = {"Flash": frozenset({"CODE", "MODEL"}), "RAM": frozenset({"DATA", "ARENA"})}
        return tuple(
            Memory(store.name, store.kind, store.nbytes, regions[store.kind])
            for store in self.memory
        )

    def board(self) -> Listed:
        """Return it as a board: what is the core's is that of the emulated board of the same core.

        Raises:
            BoardFileError: no emulated board has its core.
        """
        own = {
            "id": self.id, "name": self.name, "description": self.description, "aliases": self.aliases,
            "cpu": self.cpu, "clock_hz": self.clock_hz, "counter": "systick", "evidence": "silicon",
            "unverified": ["hardware"],
        }  # fmt: skip
        bare = Listed.model_validate(own)
        machine = machine_of(bare)
        if machine is None:
            raise BoardFileError(f"no emulated board has a {self.cpu}", where=str(bare.folder))
        return bare.model_copy(update={"fpu_flags": machine.fpu_flags, "isa": machine.isa})


def read_entry(path: Path) -> Entry:
    """Read an entry.

    Raises:
        BoardFileError: names the file, the key and what is wrong with it.
    """
    try:
        entry = Entry.model_validate(tomllib.loads(path.read_text()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BoardFileError(str(error), where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BoardFileError(f"{key}: {first['msg']}", where=str(path)) from error
    if entry.id != path.parent.name:
        raise BoardFileError(f"id {entry.id!r} is not the folder's name", where=str(path))
    if {store.kind for store in entry.memory} != {"Flash", "RAM"}:
        raise BoardFileError("memory: one Flash and one RAM", where=str(path))
    return entry


@cache
def all_entries() -> dict[str, Entry]:
    """Return every entry by id, in order of id."""
    return {path.parent.name: read_entry(path) for path in sorted(CATALOGUE.glob("*/entry.toml"))}


def known_boards() -> dict[str, Board]:
    """Return every board that can be asked for by id: those with firmware, then those of the catalogue."""
    return {**all_boards(), **{entry.id: entry.board() for entry in all_entries().values()}}


def find_boards(name: str) -> list[Board]:
    """Return the boards that a --board option names, as `bench.board.find_boards` does, and of the catalogue.

    Beside its groups there are `catalogue` for all entries and `all` for every board that one can buy.

    Raises:
        UnknownNameError: with the list and the nearest name.
    """
    listed: list[Board] = [entry.board() for entry in all_entries().values()]
    if name == ENTRIES:
        return listed
    if name == PURCHASABLE:
        return [*find_supported(CHIPS), *listed]
    for board in listed:
        if name == board.id or name in board.aliases:
            return [board]
    try:
        return find_supported(name)
    except UnknownNameError as error:
        groups = (ENTRIES, PURCHASABLE)
        error.hint = nearest(name, [*all_boards(), EMULATED, CHIPS, *all_entries(), *groups])
        raise


def memories_of(board: Board) -> tuple[Memory, ...]:
    """Return a board's physical memories; none of one without a memory.ld, such as the host.

    Raises:
        BoardFileError: its memory.ld cannot be read.
    """
    if isinstance(board, Listed):
        return all_entries()[board.id].memories()
    path = board.folder / "memory.ld"
    return read_memories(path) if path.exists() else ()


def source_of(board: Board) -> Board:
    """Return the board whose images are built for a board: itself, for an entry the emulated one of its core."""
    machine = machine_of(board) if isinstance(board, Listed) else None
    return machine or board
