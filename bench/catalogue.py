"""Boards that one may think of buying: facts for selection, without board support (boards/catalogue/*.toml).

An entry has no folder, no image and no price: prices are the user's (`prices.toml` of `bench select`). What is not from
a source at hand is named in `unverified`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.board import BOARDS
from bench.errors import BoardFileError

CATALOGUE = BOARDS / "catalogue"


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
    memory: list[Store] = Field(min_length=2)

    def nbytes(self, kind: str) -> int:
        """Return the bytes of all memories of a kind."""
        return sum(store.nbytes for store in self.memory if store.kind == kind)


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
    if entry.id != path.stem:
        raise BoardFileError(f"id {entry.id!r} is not the file's name", where=str(path))
    return entry


@cache
def all_entries() -> dict[str, Entry]:
    """Return every entry by id, in order of id."""
    return {path.stem: read_entry(path) for path in sorted(CATALOGUE.glob("*.toml"))}
