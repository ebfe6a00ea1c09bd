"""Calls of kernels, kept as they went over the harness's pipe: the seeds of the fuzz target (`tests/fuzz`)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.runtime.building import BUILD

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = BUILD / "calls"
CALLS_A_KERNEL = 4
MAX_BYTES = 4096
NONE = "none"
KINDS = (
    NONE,
    "int",
    "bool",
    "double",
    "list",
    "tensor",
    "out",
    "same",
    "tensors",
    "doubles",
    "text",
)
# ExecuTorch's scalar_type.fbs.
ELEMENT_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 6: 4, 11: 1}


@dataclass(frozen=True)
class Value:
    """An argument.

    Attributes:
        kind: one of `KINDS`.
        data: number, text, list, or the bytes of a tensor that is not to be written.
        scalar_type: ExecuTorch's number of the element type.
        constant: whether the tensor lies in the program.
    """

    kind: str
    data: Any = None
    scalar_type: int = 0
    sizes: tuple[int, ...] = ()
    dim_order: tuple[int, ...] = ()
    constant: bool = False

    @property
    def nbytes(self) -> int:
        """Size of a tensor."""
        return math.prod(self.sizes) * ELEMENT_BYTES[self.scalar_type]


class Reader:
    """Reads a request; the top of harness.cpp is the format."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._at = 0

    def call(self) -> tuple[str, list[Value]]:
        """Return the kernel's name and the arguments."""
        name = self._take(self._number("=I")).decode()
        return name, [self._value() for _ in range(self._number("=I"))]

    def _take(self, count: int) -> bytes:
        self._at += count
        return self._request[self._at - count : self._at]

    def _number(self, form: str) -> Any:
        (number,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return number

    def _value(self) -> Value:  # noqa: PLR0911  one return a kind of value
        kind = KINDS[self._number("B")]
        match kind:
            case "int":
                return Value(kind, self._number("=q"))
            case "bool":
                return Value(kind, bool(self._number("B")))
            case "double":
                return Value(kind, self._number("=d"))
            case "list":
                return Value(kind, tuple(self._number("=q") for _ in range(self._number("=I"))))
            case "doubles":
                return Value(kind, tuple(self._number("=d") for _ in range(self._number("=I"))))
            case "tensors":
                return Value(kind, tuple(self._value() for _ in range(self._number("=I"))))
            case "text":
                return Value(kind, self._take(self._number("=I")).decode())
            case "tensor" | "out":
                return self._tensor(kind)
        return Value(kind)

    def _tensor(self, kind: str) -> Value:
        scalar_type, rank, constant = (self._number("B") for _ in range(3))
        sizes = tuple(self._number("=i") for _ in range(rank))
        order = tuple(self._take(rank))
        tensor = Value(kind, None, scalar_type, sizes, order, constant=bool(constant))
        if kind == "out":
            return tensor
        data = self._take(tensor.nbytes)
        return Value(kind, data, scalar_type, sizes, order, constant=bool(constant))


class CallStore:
    """The smallest accepted calls of each kernel, of different kinds of arguments, as files."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._kept: dict[str, dict[tuple[str, ...], bytes]] = {}
        for path in self.files():
            self.keep(path.read_bytes())

    def files(self) -> list[Path]:
        """Return the files, in order of their names."""
        return sorted(self._folder.glob("*.call"))

    def kernels(self) -> list[str]:
        """Return the names of the kernels that have a call."""
        return sorted(self._kept)

    def keep(self, request: bytes) -> None:
        """Look at a call that was accepted."""
        if len(request) > MAX_BYTES:
            return
        name, arguments = Reader(request).call()
        signature = tuple(f"{value.kind}{value.scalar_type}" for value in arguments)
        kept = self._kept.setdefault(name, {})
        if signature in kept:
            if len(request) < len(kept[signature]):
                kept[signature] = request
        elif len(kept) < CALLS_A_KERNEL:
            kept[signature] = request

    def write(self) -> None:
        """Write what was kept."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, kept in self._kept.items():
            for i, request in enumerate(kept.values()):
                file = f"{name.replace('::', '-')}-{i}.call"
                (self._folder / file).write_bytes(request)
