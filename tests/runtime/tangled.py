"""Programs whose parts are named over and over: small files that say a lot, which no serializer writes.

A flatbuffer's vectors hold offsets, and nothing in the format keeps two of them from leading to the same place. So
instructions can share their arguments, values their lists, operators their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import flatbuffers

# Numbers of the unions' members and of scalar types: program.fbs, scalar_type.fbs.
KERNEL_CALL = 1
INT, TENSOR, INT_LIST, TENSOR_LIST = 2, 5, 7, 10
FLOAT = 6
ALIGNMENT = 16


@dataclass
class Tangle:
    """A program of one instruction, `relu` unless told otherwise, and what of it comes how often.

    Its values: 0 the input, 1 the output, 2 a list of the input or of value 0, 3 the integer 0, then the further ones.

    Attributes:
        instructions: entries of the chain, all of them one instruction.
        operators: entries of the list, all of them one name; each has a kernel call of its own that the instructions
            take in turn.
        arguments: indices into the values of `values_of`.
        items: of the list that value 2 is.
        lists: further values that are lists, all of them one.
        buffers: planned buffers; the tensors lie in the last.
        dead: further values that are the input.
        inputs: how often it is named as one.
        out_size: elements of the output.
        padding_bytes: zeros behind the program, as constants would lie there.
    """

    instructions: int = 1
    operators: int = 1
    name: str = "aten::relu"
    overload: str = "out"
    arguments: list[int] = field(default_factory=lambda: [0, 1, 1])
    items: int = 0
    list_kind: int = TENSOR_LIST
    lists: int = 0
    buffers: int = 1
    dead: int = 0
    inputs: int = 1
    out_size: int = 4
    padding_bytes: int = 0

    def pte(self) -> bytes:
        """Return the file."""
        builder = flatbuffers.Builder(1024)
        values = self._values(builder)
        calls = [self._instruction(builder, i) for i in range(self.operators)]
        instructions = _vector(builder, [calls[i % len(calls)] for i in range(self.instructions)])
        chain = _table(builder, {2: instructions})
        name, overload = (builder.CreateString(text) for text in (self.name, self.overload))
        operator = _table(builder, {0: name, 1: overload})
        sizes = _numbers(builder, [0] * self.buffers + [16 + 4 * self.out_size], 8)
        plan = _table(
            builder,
            {
                0: builder.CreateString("forward"),
                2: _vector(builder, values),
                3: _numbers(builder, [0] * self.inputs, 4),
                4: _numbers(builder, [1], 4),
                5: _vector(builder, [chain]),
                6: _vector(builder, [operator] * self.operators),
                8: sizes,
            },
        )
        program = _table(builder, {1: _vector(builder, [plan])})
        builder.Finish(program, file_identifier=b"ET12")
        file = bytes(builder.Output())
        return file + bytes(self.padding_bytes - len(file) % ALIGNMENT + ALIGNMENT)

    def _instruction(self, builder: flatbuffers.Builder, operator: int) -> int:
        arguments = _numbers(builder, self.arguments, 4)
        builder.StartObject(2)
        builder.PrependInt32Slot(0, operator, 0)
        builder.PrependUOffsetTRelativeSlot(1, arguments, 0)
        return _union(builder, KERNEL_CALL, builder.EndObject())

    def _values(self, builder: flatbuffers.Builder) -> list[int]:
        placed = ((4, 0), (self.out_size, 16))
        tensors = [_union(builder, TENSOR, self._tensor(builder, *place)) for place in placed]
        builder.StartObject(1)
        zero = _union(builder, INT, builder.EndObject())
        items = _numbers(builder, [0] * self.items, 8 if self.list_kind == INT_LIST else 4)
        made = _union(builder, self.list_kind, _table(builder, {0: items}))
        return [*tensors, made, zero, *[made] * self.lists, *[tensors[0]] * self.dead]

    def _tensor(self, builder: flatbuffers.Builder, size: int, offset_bytes: int) -> int:
        sizes, order = _numbers(builder, [size], 4), builder.CreateByteVector(bytes([0]))
        builder.StartObject(3)
        builder.PrependUint32Slot(0, self.buffers, 0)
        builder.PrependUint32Slot(1, offset_bytes, 0)
        place = builder.EndObject()
        builder.StartObject(10)
        builder.PrependInt8Slot(0, FLOAT, 0)
        builder.PrependUOffsetTRelativeSlot(2, sizes, 0)
        builder.PrependUOffsetTRelativeSlot(3, order, 0)
        builder.PrependUOffsetTRelativeSlot(6, place, 0)
        return int(builder.EndObject())


def _union(builder: flatbuffers.Builder, kind: int, table: int) -> int:
    builder.StartObject(2)
    builder.PrependUint8Slot(0, kind, 0)
    builder.PrependUOffsetTRelativeSlot(1, table, 0)
    return int(builder.EndObject())


def _table(builder: flatbuffers.Builder, fields: dict[int, int]) -> int:
    builder.StartObject(max(fields) + 1)
    for slot, offset in fields.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return int(builder.EndObject())


def _vector(builder: flatbuffers.Builder, offsets: list[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _numbers(builder: flatbuffers.Builder, numbers: list[int], nbytes: int) -> int:
    builder.StartVector(nbytes, len(numbers), nbytes)
    for number in reversed(numbers):
        builder.PrependInt64(number) if nbytes == 8 else builder.PrependInt32(number)
    return int(builder.EndVector())
