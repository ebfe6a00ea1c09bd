"""A board's memory on top of a core's timing: wait states, what hides them, where code and weights lie.

A core's table assumes memory without wait states. A board's own table is `boards/<id>/memory_timing.toml`; a board
without one is taken to have none (docs/estimate.md has the form).
"""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bench.board import Board
from bench.estimate.price import Price
from bench.estimate.table import Number, Status, TableError
from bench.estimate.windows import Window

FILE = "memory_timing.toml"
_WIDE = (-0.7, 1.5)  # the least band of a table with a guessed number


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Memory(_Strict):
    """What memory costs on top.

    Attributes:
        line_bytes: of the Flash and its buffer.
        code_jump: cycles of a jump into a line that has to be fetched.
        code_next: cycles of going on into the next line.
        code_missed: fraction of both that no cache serves.
        weights_line: cycles of reading weights from a line other than that of the read before.
        weights_missed: fraction of it that no cache serves.
        low, high: how far off this table alone may be, as fractions of what it adds.
    """

    title: str
    sources: dict[str, str]
    line_bytes: int = Field(gt=0)
    code_jump: Number
    code_next: Number
    code_missed: Number
    weights_line: Number
    weights_missed: Number
    low: float = Field(ge=-1, le=0)
    high: float = Field(ge=0)
    sha256: str = ""

    @model_validator(mode="after")
    def _guesses_are_wide(self) -> Memory:
        """Refuse a narrow band around guesses: nobody knows them that well."""
        adds = self.code_jump.value or self.code_next.value or self.weights_line.value
        if adds and self.status is Status.GUESSED and (self.low > _WIDE[0] or self.high < _WIDE[1]):
            raise ValueError(
                f"low, high: a guessed number needs {_WIDE[0]} and {_WIDE[1]} or wider"
            )
        return self

    @property
    def status(self) -> Status:
        """The least sure status among its numbers."""
        order = list(Status)
        numbers = (
            self.code_jump,
            self.code_next,
            self.code_missed,
            self.weights_line,
            self.weights_missed,
        )
        return max((number.status for number in numbers), key=order.index)

    def apply(self, price: Price, window: Window) -> tuple[float, float]:
        """Add the memory's cycles to a price; return how much lower and higher they may be, in cycles."""
        jumps = next_lines = 0
        for block, count in window.counts:
            first = block.start // self.line_bytes
            last = (block.start + len(block.code) - 1) // self.line_bytes
            jumps += count.entered
            next_lines += count.runs * (last - first)
        code = jumps * self.code_jump.value + next_lines * self.code_next.value
        price.add("memory_code", code * self.code_missed.value)
        weights = window.model_accesses.lines * self.weights_line.value
        price.add("memory_weights", weights * self.weights_missed.value)
        added = code * self.code_missed.value + weights * self.weights_missed.value
        return added * self.low, added * self.high


def _zero() -> Memory:
    zero = Number(value=0, source="assumed", status=Status.GUESSED)
    return Memory(
        title="no wait states",
        sources={"assumed": "the board has no memory table"},
        line_bytes=16,
        code_jump=zero,
        code_next=zero,
        code_missed=zero,
        weights_line=zero,
        weights_missed=zero,
        low=0.0,
        high=0.0,
    )


NO_WAIT_STATES = _zero()


def memory_of(board: Board) -> Memory:
    """Return the board's memory table, or `NO_WAIT_STATES`.

    Raises:
        TableError: the table is malformed.
    """
    path = board.folder / FILE
    return read_memory(path) if path.exists() else NO_WAIT_STATES


def read_memory(path: Path) -> Memory:
    """Read a memory table; raises TableError with file and key."""
    try:
        raw = path.read_bytes()
        memory = Memory.model_validate(tomllib.loads(raw.decode()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TableError(str(error), where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise TableError(f"{key}: {first['msg']}", where=str(path)) from error
    return memory.model_copy(update={"sha256": hashlib.sha256(raw).hexdigest()})
