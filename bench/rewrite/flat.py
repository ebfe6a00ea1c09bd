"""A .pte as objects that can be changed, and back: the flatbuffer of `schema/program.fbs` and the segment of constants.

The classes are the ones that flatc generates from the installed wheel's schema. The file's outer form is that of
`executorch/exir/_serialize/_program.py`: root offset, identifier, extended header, flatbuffer, padding, one segment.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import flatbuffers

from bench.errors import ProgramError
from bench.pte import IDENTIFIER, check_container

try:
    from executorch_flatbuffer.DataSegment import DataSegmentT
    from executorch_flatbuffer.InstructionArguments import InstructionArguments
    from executorch_flatbuffer.KernelTypes import KernelTypes
    from executorch_flatbuffer.Program import Program, ProgramT
    from executorch_flatbuffer.SubsegmentOffsets import SubsegmentOffsetsT
except ImportError as missing:
    from bench.errors import ToolMissingError

    raise ToolMissingError(
        "the writer of .pte files has not been generated", hint="run `make setup`"
    ) from missing

CONSTANT_ALIGNMENT = 16  # what ExecuTorch gives tensors, and what Tensor data is checked against
_HEADER = struct.Struct("<4sI3Q")
_ROOT_BYTES = 8  # root offset and identifier: what comes before the extended header
_ELEMENT_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 11: 1, 15: 2, 27: 2, 28: 4, 29: 8}


@dataclass
class FlatProgram:
    """A program that is being changed.

    Attributes:
        table: flatc's object of the whole program; its constants are not in it.
        constants: the bytes of each constant by `data_buffer_idx`; 0 is the reserved empty one.
    """

    table: Any
    constants: list[bytes]

    def plan(self, method: str) -> Any:
        """Return the plan of a method; raises ProgramError if there is none."""
        for plan in self.table.executionPlan:
            if plan.name.decode() == method:
                return plan
        raise ProgramError(f"the program has no method {method!r}")


def is_tensor(value: Any) -> bool:
    """Whether an EValue holds a tensor."""
    return bool(value.valType == KernelTypes.Tensor)


def nbytes(tensor: Any) -> int:
    """Return the size of a tensor's data."""
    count = math.prod(int(size) for size in (tensor.sizes if tensor.sizes is not None else ()))
    return count * _ELEMENT_BYTES[tensor.scalarType]


def element_bytes(tensor: Any) -> int:
    """Return the size of an element of a tensor."""
    return _ELEMENT_BYTES[tensor.scalarType]


def read_flat(data: bytes, where: str = ".pte") -> FlatProgram:
    """Read a program.

    Raises:
        ProgramError: foreign, truncated or corrupt, or of a form that is not rewritten (constants inside the
            flatbuffer, further segments).
    """
    check_container(data, where)
    try:
        table = ProgramT.InitFromObj(Program.GetRootAs(data, 0))
        _, _, _, segments_begin, _ = _HEADER.unpack_from(data, _ROOT_BYTES)
        return FlatProgram(table, _constants(data, table, segments_begin, where))
    except (struct.error, IndexError, TypeError, ValueError, AttributeError, KeyError,
            MemoryError, OverflowError, AssertionError) as error:  # fmt: skip
        raise ProgramError(
            f"the program is corrupt: {type(error).__name__}: {error}", where=where
        ) from error


def _constants(data: bytes, table: Any, segments_begin: int, where: str) -> list[bytes]:
    """Return each constant with the bytes that the largest tensor over it wants."""
    for plan in table.executionPlan:
        calls = [call for chain in plan.chains for call in chain.instructions or ()]
        if plan.delegates or any(c.instrArgsType != InstructionArguments.KernelCall for c in calls):
            raise ProgramError("it has delegates or branches: it is not rewritten", where=where)
    if any(
        buffer.storage is not None and len(buffer.storage) for buffer in table.constantBuffer or ()
    ):
        raise ProgramError(
            "its constants do not lie in a segment: it is not rewritten", where=where
        )
    if table.namedData or table.mutableDataSegments:
        raise ProgramError("it has further segments: it is not rewritten", where=where)
    if table.constantSegment is None or not len(table.constantSegment.offsets):
        return [b""]
    if len(table.segments) != 1:
        raise ProgramError("it has further segments: it is not rewritten", where=where)
    segment = table.segments[0]
    offsets = [int(offset) for offset in table.constantSegment.offsets]
    sizes = [0] * len(offsets)
    for plan in table.executionPlan:
        for value in plan.values:
            if is_tensor(value) and value.val.dataBufferIdx:
                index = value.val.dataBufferIdx
                sizes[index] = max(sizes[index], nbytes(value.val))
    found = []
    for offset, size in zip(offsets, sizes, strict=True):
        if offset + size > segment.size:
            raise ValueError(f"a constant of {size} bytes at {offset} of {segment.size}")
        start = segments_begin + segment.offset + offset
        found.append(data[start : start + size])
    return found


def write_flat(program: FlatProgram) -> bytes:
    """Return the program as a .pte."""
    segment = bytearray()
    offsets = []
    for data in program.constants:
        segment += bytes(-len(segment) % CONSTANT_ALIGNMENT)
        offsets.append(len(segment))
        segment += data
    table = program.table
    table.constantBuffer = []
    table.constantSegment = SubsegmentOffsetsT()
    table.constantSegment.segmentIndex = 0
    table.constantSegment.offsets = offsets
    entry = DataSegmentT()
    entry.offset, entry.size = 0, len(segment)
    table.segments = [entry]
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(table.Pack(builder), IDENTIFIER)
    flat = bytes(builder.Output())
    root = struct.unpack_from("<I", flat)[0] + _HEADER.size
    program_bytes = len(flat) + _HEADER.size
    begin = -(-program_bytes // CONSTANT_ALIGNMENT) * CONSTANT_ALIGNMENT
    header = _HEADER.pack(b"eh00", _HEADER.size, program_bytes, begin, len(segment))
    whole = struct.pack("<I", root) + IDENTIFIER + header + flat[_ROOT_BYTES:]
    return whole + bytes(begin - program_bytes) + bytes(segment)
