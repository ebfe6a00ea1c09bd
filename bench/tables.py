"""Tables of a program for one image: all that a load reads of the flatbuffer, found here instead (docs/tables.md).

`runtime/exec/laid.hpp` reads them. They lie behind the program, at the next multiple of 16; offsets are counted from the
program's first byte, so that both may lie anywhere. The program is one that the checked loader accepted.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from executorch_flatbuffer import Int, KernelCall, KernelTypes, Tensor
from executorch_flatbuffer.InstructionArguments import InstructionArguments
from executorch_flatbuffer.Program import Program as FlatProgram

from bench.bundle import ALIGNMENT
from bench.errors import OperatorMissingError, ProgramError
from bench.pte import check_container, flat_plan

VERSION = 1
_MAGIC = b"TABL"
_HEADER = struct.Struct("<4s8I6HQ")
_NOTHING_AT = 48  # in the header: eight zeros, for doubles and lists that the program leaves out
_CALL = struct.Struct("<IHH")
_SHAPE = struct.Struct("<3I2BH")
_CONSTANT = 1 << 31
_EXTENDED = struct.Struct("<4sI3Q")  # the program's extended header, at byte 8
_EXTENDED_AT = 8

# Fields of a flatbuffer's table by their places in its vtable: 4 and 2 for each field of the schema before it.
_FIRST, _SECOND = 4, 6  # the only field of a boxed value; the arguments of a call
_SIZES, _DIM_ORDER = 8, 10


class Kind(IntEnum):
    """What a value is: `rt::ValueKind`."""

    UNUSED = 0
    NONE = 1
    INT = 2
    WIDE_INT = 3
    BOOL = 4
    DOUBLE = 5
    TENSOR = 6
    INT_LIST = 7
    TENSOR_LIST = 8
    DOUBLE_LIST = 9
    STRING = 10
    OTHER = 11


_KINDS = {
    KernelTypes.KernelTypes.Null: Kind.NONE,
    KernelTypes.KernelTypes.Int: Kind.INT,
    KernelTypes.KernelTypes.Bool: Kind.BOOL,
    KernelTypes.KernelTypes.Double: Kind.DOUBLE,
    KernelTypes.KernelTypes.Tensor: Kind.TENSOR,
    KernelTypes.KernelTypes.IntList: Kind.INT_LIST,
    KernelTypes.KernelTypes.TensorList: Kind.TENSOR_LIST,
    KernelTypes.KernelTypes.OptionalTensorList: Kind.TENSOR_LIST,
    KernelTypes.KernelTypes.DoubleList: Kind.DOUBLE_LIST,
    KernelTypes.KernelTypes.String: Kind.STRING,
}
_NUMBERS = frozenset({Kind.INT, Kind.WIDE_INT, Kind.BOOL})
_IN_PLACE = frozenset({Kind.DOUBLE, Kind.INT_LIST, Kind.TENSOR_LIST, Kind.DOUBLE_LIST, Kind.STRING})


def padded(nbytes: int) -> int:
    """Return the next multiple of 16: where tables begin behind a program, and one planned buffer behind another."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def kernels_crc32(kernels: Iterable[str]) -> int:
    """Return what tells lists of kernels apart: the CRC-32 of their names in order, each with a NUL behind it."""
    return zlib.crc32(b"".join(name.encode() + b"\0" for name in kernels))


def lay_out(
    pte: bytes, method: str, kernels: Sequence[str], temporary_bytes: int, where: str = ".pte"
) -> bytes:
    """Return the tables of a method.

    Args:
        pte: a program that the checked loader accepted.
        kernels: the image's, in their order.
        temporary_bytes: scratch that its kernels need together, as that load said.

    Raises:
        OperatorMissingError: the image has no kernel for a call.
        ProgramError: the program cannot be laid out; the checked loader refuses it, too.
    """
    check_container(pte, where)
    try:
        plan = _Plan(pte, method, where)
        return plan.lay_out(kernels, temporary_bytes)
    except (struct.error, LookupError, TypeError, ValueError, AttributeError, OverflowError,
            MemoryError, AssertionError) as error:  # fmt: skip
        raise ProgramError(
            f"the program cannot be laid out: {type(error).__name__}: {error}", where=where
        ) from error


@dataclass(frozen=True)
class _Call:
    """A call of a kernel: `arguments_at` is where its first argument lies in the program."""

    operator: str
    arguments_at: int
    arguments: tuple[int, ...]


class _Plan:
    """A method, read by the same rules as the checked loader's (runtime/exec/loader.cpp)."""

    def __init__(self, pte: bytes, method: str, where: str) -> None:
        self._pte = pte
        self._where = where
        self._program = FlatProgram.GetRootAs(pte, 0)
        self._plan, buffers = flat_plan(pte, method, where)
        self._buffer_begins = [0, 0]  # entry 0 is reserved by the format
        for nbytes in buffers[1:]:
            self._buffer_begins.append(self._buffer_begins[-1] + padded(nbytes))
        self._nothing = padded(len(pte)) + _NOTHING_AT
        self._lists: dict[tuple[int, tuple[int, ...]], int] = {}  # by field and items
        self._kinds = [Kind.UNUSED] * self._plan.ValuesLength()
        self._calls = list(self._read_calls())
        self._inputs = [self._plan.Inputs(i) for i in range(self._plan.InputsLength())]
        self._outputs = [self._plan.Outputs(i) for i in range(self._plan.OutputsLength())]
        for value in [*self._inputs, *self._outputs]:
            self._use(value)
        for call in self._calls:
            for value in call.arguments:
                self._use(value)

    def _read_calls(self) -> Iterator[_Call]:
        chain = self._plan.Chains(0)
        for i in range(chain.InstructionsLength()):
            instruction = chain.Instructions(i)
            if instruction.InstrArgsType() != InstructionArguments.KernelCall:
                raise ValueError(f"instruction {i} calls no kernel")
            table = instruction.InstrArgs()
            call = KernelCall.KernelCall()
            call.Init(table.Bytes, table.Pos)
            operator = self._plan.Operators(call.OpIndex())
            name, overload = ((text or b"").decode() for text in (operator.Name(), operator.Overload()))  # fmt: skip
            yield _Call(
                f"{name}.{overload}" if overload else name,
                table.Vector(table.Offset(_SECOND)),
                tuple(call.Args(k) for k in range(call.ArgsLength())),
            )

    def _use(self, value: int) -> None:
        """Note a value that something names, and the items of a list when it is met first."""
        if self._kinds[value] != Kind.UNUSED:
            return
        self._note(value)
        kind = self._kinds[value]
        if kind not in {Kind.INT_LIST, Kind.TENSOR_LIST}:
            return
        at = self._word(value)
        if at == self._nothing:
            return
        (count,) = struct.unpack_from("<I", self._pte, at)
        for item in struct.unpack_from(
            f"<{count}{'q' if kind == Kind.INT_LIST else 'i'}", self._pte, at + 4
        ):
            named = 0 <= item < len(self._kinds) and self._kinds[item] == Kind.UNUSED
            # Among integers tensors are left out, as the checked loader does.
            if named and (kind == Kind.TENSOR_LIST or self._type(item) != Kind.TENSOR):
                self._note(item)

    def _type(self, value: int) -> Kind:
        return _KINDS.get(self._plan.Values(value).ValType(), Kind.OTHER)

    def _note(self, value: int) -> None:
        kind = self._type(value)
        if kind == Kind.INT and not -(1 << 31) <= self._integer(value) < 1 << 31:
            kind = Kind.WIDE_INT
        self._kinds[value] = kind

    def _integer(self, value: int) -> int:
        table = self._plan.Values(value).Val()
        number = Int.Int()
        number.Init(table.Bytes, table.Pos)
        return int(number.IntVal())

    def _word(self, value: int) -> int:
        """Return the word of a value that has one: a number, or where it lies."""
        kind = self._kinds[value]
        if kind in {Kind.INT, Kind.WIDE_INT}:
            nearest = max(-(1 << 31), min((1 << 31) - 1, self._integer(value)))
            return nearest & 0xFFFF_FFFF
        table = self._plan.Values(value).Val()
        place = table.Offset(_FIRST)
        if kind == Kind.BOOL:
            return int(place != 0 and self._pte[table.Pos + place] != 0)
        if place == 0:
            return self._nothing
        return int(table.Pos + place if kind == Kind.DOUBLE else table.Vector(place) - 4)

    def _tensor(self, value: int) -> Any:
        table = self._plan.Values(value).Val()
        tensor = Tensor.Tensor()
        tensor.Init(table.Bytes, table.Pos)
        return tensor

    def _shape(self, value: int) -> bytes:
        """Return a tensor's shape; equal lists of sizes or dimensions are where the first of them lies."""
        table, tensor = self._plan.Values(value).Val(), self._tensor(value)
        sizes = tuple(tensor.Sizes(i) for i in range(tensor.SizesLength()))
        order = tuple(tensor.DimOrder(i) for i in range(tensor.DimOrderLength()))
        places = []
        for slot, items in ((_SIZES, sizes), (_DIM_ORDER, order)):
            place = table.Offset(slot)
            at = int(table.Vector(place)) if place else 0
            places.append(self._lists.setdefault((slot, items), at))
        numel = math.prod(sizes)
        return _SHAPE.pack(*places, numel, tensor.ScalarType(), len(sizes), 0)

    def _place(self, value: int) -> int:
        """Return where a tensor's data lies: in the planned buffers, or in the program with bit 31 set."""
        tensor = self._tensor(value)
        planned = tensor.AllocationInfo()
        if planned is not None:
            return int(self._buffer_begins[planned.MemoryId()] + planned.MemoryOffsetLow())
        index, segment = tensor.DataBufferIdx(), self._program.ConstantSegment()
        if segment is not None and segment.OffsetsLength():
            _, _, _, begin, _ = _EXTENDED.unpack_from(self._pte, _EXTENDED_AT)
            begin += self._program.Segments(segment.SegmentIndex()).Offset()
            return int(_CONSTANT | begin + segment.Offsets(index))
        table = self._program.ConstantBuffer(index)._tab  # noqa: SLF001  where it lies, no accessor says
        place = table.Offset(_FIRST)  # an empty constant may have no storage
        return int(_CONSTANT | table.Vector(place) if place else _CONSTANT)

    def lay_out(self, kernels: Sequence[str], temporary_bytes: int) -> bytes:
        """Return the tables."""
        kinds = self._kinds
        tensors = [value for value, kind in enumerate(kinds) if kind == Kind.TENSOR]
        numbers = {value: number for number, value in enumerate(tensors)}
        shapes = [self._shape(value) for value in tensors]
        distinct = list(dict.fromkeys(shapes))
        words = [
            self._word(value)
            for value, kind in enumerate(kinds)
            if kind in _NUMBERS or kind in _IN_PLACE
        ]
        missing = sorted({call.operator for call in self._calls} - set(kernels))
        if missing:
            raise OperatorMissingError(
                f"the image has no kernel for {', '.join(missing)}", where=self._where
            )
        inputs = [numbers[value] for value in self._inputs if value in numbers]
        outputs = [numbers[value] for value in self._outputs]
        halves = [*(distinct.index(shape) for shape in shapes), *inputs, *outputs]
        body = b"".join(
            _CALL.pack(call.arguments_at, len(call.arguments), kernels.index(call.operator))
            for call in self._calls
        )
        body += b"".join(distinct)
        body += struct.pack(f"<{len(tensors)}I", *(self._place(value) for value in tensors))
        body += struct.pack(f"<{len(words)}I", *words)
        body += struct.pack(f"<{len(halves)}H", *halves) + bytes(kinds)
        body += bytes(-len(body) % 4)
        header = _HEADER.pack(
            _MAGIC,
            VERSION,
            _HEADER.size + len(body),
            zlib.crc32(self._pte),
            kernels_crc32(kernels),
            self._buffer_begins[-1],
            temporary_bytes,
            len(kinds),
            len(words),
            len(self._calls),
            len(distinct),
            len(tensors),
            len(inputs),
            len(outputs),
            0,
            0,
        )
        return header + body
