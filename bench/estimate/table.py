"""Timing tables: one TOML file a core, every number with its source and its status."""

from __future__ import annotations

import hashlib
import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bench.errors import Blame, LabError, nearest
from bench.estimate.kinds import Kind

TABLES = Path(__file__).parent / "tables"
_FLOAT_KINDS = {kind for kind in Kind if kind.startswith("v")}
_KEYS = {kind.value for kind in Kind} | {f"{kind}_double" for kind in _FLOAT_KINDS}


class TableError(LabError):
    """A timing table that is malformed or does not exist."""

    code = "timing-table"
    blame = Blame.BENCH


class Status(StrEnum):
    """How a number came to be."""

    DOCUMENTED = "documented"  # the named source says it
    FITTED = "fitted"  # to the anchors marked `fit`
    BORROWED = "borrowed"  # documented for another core that is thought alike
    GUESSED = "guessed"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Number(_Strict):
    """A number, where it is from, and how sure that is.

    Attributes:
        value: cycles, unless the place it stands in says otherwise.
        each: cycles a register on top, of loads and stores of several.
        source: a key of the table's `sources`.
    """

    value: float
    each: float = 0.0
    source: str
    status: Status


class Taken(_Strict):
    """Cycles on top of a branch's own when it is taken: the refill of the pipeline."""

    direct: Number
    call: Number
    indirect: Number
    load: Number  # of a POP or LDM with the program counter, and of LDR to it
    table: Number
    loop: Number  # of the end of a low-overhead loop
    wide_unaligned: Number  # more, if the target is a 32-bit instruction that is not 32-bit aligned
    mispredicted: Number  # of a conditional branch, times the rarer of its two outcomes
    mispredicted_share: Number  # of the rarer outcomes: 0 where nothing predicts


class Read(_Strict):
    """When operands are read, against the cycle that an instruction issues in (later: negative)."""

    address: Number  # cycles before
    address_of_alu: Number  # cycles more, if data processing made the address (not a load)
    shifted: Number
    store_data: Number
    accumulator: Number


class Pairing(_Strict):
    """Which two instructions issue in one cycle.

    Attributes:
        rule: `none`; `slim`: two 16-bit ones, one of a short list; `units`: two units that are not the same.
        units: unit -> kinds; under `units`, a cycle has one of each unit.
        doubled: kinds of which a cycle takes two.
    """

    rule: Literal["none", "slim", "units"]
    source: str
    status: Status
    units: dict[str, list[Kind]] = {}
    doubled: list[Kind] = []


class Table(_Strict):
    """A core's timing.

    Attributes:
        core: GCC's -mcpu string.
        sources: key -> document.
        issue: kind -> cycles until the next instruction can issue; `default` for the rest.
        issue_indexed: instead of `issue.store` for a store with a register offset.
        result: kind -> cycles from issue until the result can be read, where that is more than `issue`.
        load_pipelined: cycles that a load or store saves directly after a load.
        store_then_memory: cycles between a store and a load or store directly after it.
        vector_overlap: cycles that a vector instruction starts before the end of one of another pipe.
    """

    core: str
    title: str
    sources: dict[str, str]
    issue: dict[str, Number]
    issue_indexed: Number
    result: dict[str, Number]
    load_pipelined: Number
    store_then_memory: Number
    vector_overlap: Number
    taken: Taken
    read: Read
    pairing: Pairing
    sha256: Annotated[str, Field(exclude=True)] = ""

    @model_validator(mode="after")
    def _known(self) -> Table:
        """Every key names a kind, every source is listed."""
        for key in (*self.issue, *self.result):
            if key not in _KEYS | {"default"}:
                raise ValueError(f"no kind {key!r}: {nearest(key, sorted(_KEYS))}")
        if "default" not in self.issue:
            raise ValueError("issue.default is missing")
        for number in self.numbers().values():
            if number.source not in self.sources:
                raise ValueError(f"source {number.source!r} is not in [sources]")
        return self

    def numbers(self) -> dict[str, Number]:
        """Return every number by its dotted path."""
        found = {
            "issue_indexed": self.issue_indexed,
            "load_pipelined": self.load_pipelined,
            "store_then_memory": self.store_then_memory,
            "vector_overlap": self.vector_overlap,
        }
        found |= {f"issue.{key}": number for key, number in self.issue.items()}
        found |= {f"result.{key}": number for key, number in self.result.items()}
        found |= {f"taken.{key}": getattr(self.taken, key) for key in Taken.model_fields}
        return found | {f"read.{key}": getattr(self.read, key) for key in Read.model_fields}

    def with_values(self, values: dict[str, float]) -> Table:
        """Return a table with some numbers replaced, by their dotted path: what a fit tries."""
        table = self
        for path, value in values.items():
            head, _, tail = path.partition(".")
            old = getattr(table, head)
            if not tail:
                new: object = old.model_copy(update={"value": value})
            elif isinstance(old, dict):
                new = old | {tail: old[tail].model_copy(update={"value": value})}
            else:
                number = getattr(old, tail).model_copy(update={"value": value})
                new = old.model_copy(update={tail: number})
            table = table.model_copy(update={head: new})
        return table


def read_table(path: Path) -> Table:
    """Read a timing table.

    Raises:
        TableError: names the file, the key and what is wrong with it.
    """
    try:
        raw = path.read_bytes()
        table = Table.model_validate(tomllib.loads(raw.decode()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TableError(str(error), where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise TableError(f"{key}: {first['msg']}", where=str(path)) from error
    return table.model_copy(update={"sha256": hashlib.sha256(raw).hexdigest()})


@cache
def all_tables() -> dict[str, Table]:
    """Return every core's table by -mcpu string."""
    tables = (read_table(path) for path in sorted(TABLES.glob("*.toml")))
    return {table.core: table for table in tables}


def table_of(cpu: str) -> Table:
    """Return the table of a core.

    Raises:
        TableError: there is none.
    """
    tables = all_tables()
    if cpu not in tables:
        raise TableError(f"no timing table for {cpu!r}", hint=nearest(cpu, sorted(tables)))
    return tables[cpu]
