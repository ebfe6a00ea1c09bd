"""Tables of programs (docs/tables.md): read here by that page, and the runner's comparison sees each kind of error in them.

That they are the checked loader's method is held wherever the runner runs a program: it makes both (tests/runtime/laid.hpp).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable

import pytest
from executorch.exir._serialize._program import deserialize_pte_binary

from bench.errors import OperatorMissingError, ProgramError
from bench.tables import kernels_crc32, lay_out
from tests.runtime.conftest import VECTORS, Runner

PROGRAM = VECTORS / "ds_cnn_cortex-m4.pte"
GIVEN = PROGRAM.with_suffix(".in.bin")
HEADER_BYTES = 56


class Parts:
    """Where the parts of tables begin, by docs/tables.md."""

    def __init__(self, tables: bytes) -> None:
        words = struct.unpack_from("<9I", tables)
        self.values, self.words = words[7], words[8]
        self.calls, self.shapes, self.tensors, self.inputs, self.outputs = struct.unpack_from("<5H", tables, 36)  # fmt: skip
        self.calls_at = HEADER_BYTES
        self.shapes_at = self.calls_at + 8 * self.calls
        self.places_at = self.shapes_at + 16 * self.shapes
        self.words_at = self.places_at + 4 * self.tensors
        self.shape_of_at = self.words_at + 4 * self.words
        self.ends_at = self.shape_of_at + 2 * self.tensors
        self.kinds_at = self.ends_at + 2 * (self.inputs + self.outputs)
        self.end = self.kinds_at + self.values


def test_every_part_is_where_the_page_says() -> None:
    """Against ExecuTorch's own reader of the program: counts, argument lists, types, shapes, numbers, inputs and outputs."""
    pte = PROGRAM.read_bytes()
    plan = deserialize_pte_binary(pte).program.execution_plan[0]
    kernels = sorted({f"{op.name}.{op.overload}" for op in plan.operators})
    tables = lay_out(pte, "forward", kernels, 1040)
    parts = Parts(tables)

    assert b"TABL" == tables[:4]
    assert [1, len(tables), zlib.crc32(pte), kernels_crc32(kernels), 16_000, 1040] == list(
        struct.unpack_from("<6I", tables, 4)
    )
    assert kernels_crc32(["a.b", "c.d"]) == zlib.crc32(b"a.b\0c.d\0")
    calls = [instruction.instr_args for instruction in plan.chains[0].instructions]
    assert (len(plan.values), len(calls)) == (parts.values, parts.calls)
    for i, call in enumerate(calls):
        at, count, kernel = struct.unpack_from("<IHH", tables, parts.calls_at + 8 * i)
        op = plan.operators[call.op_index]
        assert call.args == list(struct.unpack_from(f"<{count}i", pte, at))
        assert f"{op.name}.{op.overload}" == kernels[kernel]
    kinds = tables[parts.kinds_at : parts.end]
    tensors = [i for i, kind in enumerate(kinds) if kind == 6]
    assert len(tensors) == parts.tensors
    assert {type(plan.values[i].val).__name__ for i in tensors} == {"Tensor"}
    shape_of = struct.unpack_from(f"<{parts.tensors}H", tables, parts.shape_of_at)
    for value, number in zip(tensors, shape_of, strict=True):
        tensor = plan.values[value].val
        sizes_at, order_at, numel, kind, rank = struct.unpack_from("<3I2B", tables, parts.shapes_at + 16 * number)  # fmt: skip
        assert (int(tensor.scalar_type), len(tensor.sizes)) == (kind, rank)
        assert tensor.sizes == list(struct.unpack_from(f"<{rank}i", pte, sizes_at))
        assert list(tensor.dim_order) == list(pte[order_at : order_at + rank])
        assert numel == math.prod(tensor.sizes)
    numbers = iter(struct.unpack_from(f"<{parts.words}i", tables, parts.words_at))
    words = {i: next(numbers) for i, kind in enumerate(kinds) if kind not in {0, 1, 6, 11}}
    for value, word in words.items():
        if kinds[value] == 2:
            assert plan.values[value].val.int_val == word
    ends = struct.unpack_from(f"<{parts.inputs + parts.outputs}H", tables, parts.ends_at)
    assert [*plan.inputs, *plan.outputs] == [tensors[number] for number in ends]
    assert len(tables) == -(-parts.end // 4) * 4


def _kernel(tables: bytearray, parts: Parts) -> None:
    tables[parts.calls_at + 6] ^= 1


def _arguments(tables: bytearray, parts: Parts) -> None:
    tables[parts.calls_at] ^= 4


def _shape(tables: bytearray, parts: Parts) -> None:
    tables[parts.shapes_at + 8] ^= 1


def _planned(tables: bytearray, parts: Parts) -> None:
    place = next(
        parts.places_at + 4 * i
        for i in range(parts.tensors)
        if tables[parts.places_at + 4 * i + 3] < 0x80
    )
    tables[place] ^= 1


def _constant(tables: bytearray, parts: Parts) -> None:
    place = next(
        parts.places_at + 4 * i
        for i in range(parts.tensors)
        if tables[parts.places_at + 4 * i + 3] >= 0x80
    )
    tables[place] ^= 1


def _number(tables: bytearray, parts: Parts) -> None:
    at = next(k for k, kind in enumerate(tables[parts.kinds_at : parts.end]) if kind not in {0, 1, 6})  # fmt: skip
    assert tables[parts.kinds_at + at] in {2, 3, 4, 5, 7}
    tables[parts.words_at] ^= 1


def _kind(tables: bytearray, parts: Parts) -> None:
    at = tables.index(bytes([2]), parts.kinds_at)
    tables[at] = 3


def _input(tables: bytearray, parts: Parts) -> None:
    tables[parts.ends_at] ^= 1


def _output(tables: bytearray, parts: Parts) -> None:
    tables[parts.ends_at + 2] ^= 1


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_kernel, "kernel of 0"),
        (_arguments, "arguments of 0"),
        (_shape, "value"),
        (_planned, "value"),
        (_constant, "value"),
        (_number, "value"),
        (_kind, "kind of value"),
        (_input, "input 0"),
        (_output, "output 0"),
    ],
)
def test_the_comparison_sees(
    runner: Runner, damage: Callable[[bytearray, Parts], None], told: str
) -> None:
    """One bit of tables changed makes another method, and the runner says where."""
    tables = bytearray(runner.tables(PROGRAM))
    damage(tables, Parts(bytes(tables)))

    with pytest.raises(AssertionError, match=f"another method: {told}"):
        runner.run(PROGRAM, GIVEN, tables=bytes(tables))


def test_a_call_without_a_kernel_is_named() -> None:
    """The image's list has to have every operator of the program."""
    with pytest.raises(OperatorMissingError, match=r"cortex_m::quantized_linear\.out"):
        lay_out(
            PROGRAM.with_name("linear_cortex-m4.pte").read_bytes(),
            "forward",
            ["cortex_m::quantize_per_tensor.out", "cortex_m::dequantize_per_tensor.out"],
            0,
        )


@pytest.mark.parametrize("at", range(0, 4096, 64))
def test_a_damaged_program_is_a_named_error_or_tables(at: int) -> None:
    """Never another exception: the checked loader refuses it before, but who calls this by mistake is told."""
    pte = bytearray(VECTORS.joinpath("linear_cortex-m4.pte").read_bytes())
    pte[at : at + 8] = b"\xff" * 8
    kernels = [
        "cortex_m::quantize_per_tensor.out",
        "cortex_m::dequantize_per_tensor.out",
        "cortex_m::quantized_linear.out",
        "aten::view_copy.out",
    ]

    try:
        tables = lay_out(bytes(pte), "forward", kernels, 0)
    except (ProgramError, OperatorMissingError):
        return
    assert tables[:4] == b"TABL"
