"""Pack int8 weights for cores with the DSP extension: re-encoded at the same size, read by the kernels `*.dsp1`.

The encoding is that of `runtime/kernels/dsp/packed.hpp`: of four weights the halves of a word are 256 * w1 + w0 and
256 * w3 + w2, and the bias is 256 * (bias + input offset * sum of the filter + 127 * sum of its odd weights). A call whose filters do not allow it keeps
its weights. A packed call's operator has the overload `dsp1` in place of `out`, so a runtime that cannot read the
weights refuses the program as one with an operator that it lacks.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.rewrite.flat import FlatProgram, is_tensor, nbytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVERLOAD = b"dsp1"
CPUS = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p")
_STEP = 8  # a filter's length is a multiple of it
_QUAD = 4
_LIMIT = 1 << 23  # of sums, which are kept 256-fold in 32 bits
_FARTHEST = 255  # words from the end of a filter
_ROWS_AT_ONCE = 5  # rows from which the kernel of exported weights is the better one
_LEAST_OUTPUTS = 3


@dataclass(frozen=True)
class Packed:
    """What was packed, of how many calls that have weights, and why others were not."""

    calls: int
    packed: int
    kept: tuple[str, ...]


class KeepError(Exception):
    """Why a call keeps its weights."""


@dataclass(frozen=True)
class Call:
    """The arguments of a call that has weights, by name."""

    plan: Any
    constants: list[bytes]
    args: list[int]

    def value(self, place: int) -> Any:
        """Return an argument's value in the program."""
        return self.plan.values[self.args[place]]

    def tensor(self, place: int) -> Any:
        """Return an argument's tensor; raise KeepError if there is none."""
        value = self.value(place)
        if not is_tensor(value):
            raise KeepError("no bias")
        return value.val

    def integers(self, place: int) -> list[int]:
        """Return an argument that is a list of integers."""
        value = self.value(place).val
        return [int(self.plan.values[int(item)].val.intVal) for item in value.items]

    def integer(self, place: int) -> int:
        """Return an argument that is an integer."""
        return int(self.value(place).val.intVal)

    def array(self, place: int, dtype: str) -> NDArray[Any]:
        """Return a constant tensor's data; raise KeepError if it is no constant."""
        tensor = self.tensor(place)
        if not tensor.dataBufferIdx:
            raise KeepError("a weight or bias that is no constant")
        data = self.constants[tensor.dataBufferIdx][: nbytes(tensor)]
        return np.frombuffer(data, dtype).reshape([int(size) for size in tensor.sizes])


def _conv2d(call: Call) -> int:
    """Return the input offset of a convolution that can be packed; raise KeepError."""
    if call.array(9, "<i4").max() >= 0:
        raise KeepError("a shift to the left")
    weight = call.array(1, "i1")
    if weight.shape[3] != int(call.tensor(0).sizes[1]):
        raise KeepError("groups")
    if weight.shape[3] % _QUAD:
        raise KeepError(f"{weight.shape[3]} input channels, no multiple of {_QUAD}")
    return call.integer(6)


def _linear(call: Call) -> int:
    """Return the input offset of a linear call that can be packed; raise KeepError."""
    weight = call.array(1, "i1")
    if is_tensor(call.value(3)):
        raise KeepError("kernel sums instead of a bias")
    if nbytes(call.tensor(0)) >= _ROWS_AT_ONCE * weight.shape[1]:
        raise KeepError(f"{_ROWS_AT_ONCE} rows and more")
    if call.integer(5) != 0:
        raise KeepError("a filter offset")
    if call.integers(8)[0] >= 0:
        raise KeepError("a shift to the left")
    if weight.shape[0] < _LEAST_OUTPUTS:
        raise KeepError(f"fewer than {_LEAST_OUTPUTS} outputs")
    return call.integer(4)


_MENDING = {b"cortex_m::quantized_conv2d"}
_OPERATORS = {b"cortex_m::quantized_conv2d": _conv2d, b"cortex_m::quantized_linear": _linear}


def encode(
    weights: NDArray[np.int8], bias: NDArray[np.int32], input_offset: int, *, one_beyond: bool
) -> tuple[bytes, bytes]:
    """Return packed weights and bias.

    Args:
        weights: a filter a row; its length is a multiple of 8.
        bias: one a filter.
        input_offset: what the operator adds to each input.
        one_beyond: whether the kernel can mend one pair a filter whose word lacks 2^16.

    Raises:
        KeepError: a pair or a sum does not fit.
    """
    wide = weights.astype(np.int64)
    low, high = wide[:, 0::2], wide[:, 1::2] - (wide[:, 0::2] < 0)
    sums = bias.astype(np.int64) + input_offset * wide.sum(axis=1)
    positive = np.where(wide > 0, wide, 0).sum(axis=1)
    negative = np.where(wide < 0, wide, 0).sum(axis=1)
    largest = sums + 127 * positive - 128 * negative
    smallest = sums - 128 * positive + 127 * negative
    if largest.max() >= _LIMIT or smallest.min() < -_LIMIT:
        raise KeepError("sums of 2^23 and more")
    packed_bias = 256 * (sums + 127 * wide[:, 1::2].sum(axis=1)) + _mends(high < -128, one_beyond)
    packed = np.empty_like(wide)
    packed[:, 0::2], packed[:, 1::2] = low, high
    # both wrap: sums of the kernel do too, and come back into range
    return packed.astype(np.int8).tobytes(), packed_bias.astype("<u4").tobytes()


def _mends(beyond: NDArray[np.bool_], one_beyond: bool) -> NDArray[np.int64]:
    """Return the low byte of each filter's bias: how many words from its end the pair lies that lacks 2^16, or 0."""
    if not beyond.any():
        return np.zeros(len(beyond), np.int64)
    if not one_beyond or beyond.sum(axis=1).max() > 1:
        raise KeepError("weights of -128 beside negative ones")
    words = beyond.shape[1] // 2 - beyond.argmax(axis=1) // 2
    found = np.where(beyond.any(axis=1), words, 0)
    if found.max() > _FARTHEST:
        raise KeepError("a weight of -128 beside a negative one, far from the filter's end")
    return found


def pack(program: FlatProgram, method: str = "forward") -> Packed:
    """Pack every call of a method that allows it; what it read before is left to `slim`."""
    plan = program.plan(method)
    overloads: dict[int, int] = {}
    calls = packed = 0
    kept = []
    for chain in plan.chains:
        for position, instruction in enumerate(chain.instructions):
            call = instruction.instrArgs
            operator = plan.operators[call.opIndex]
            if operator.name not in _OPERATORS or operator.overload != b"out":
                continue
            calls += 1
            args = [int(index) for index in call.args]
            try:
                data = _encoded(operator.name, Call(plan, program.constants, args))
            except KeepError as why:
                kept.append(f"{position} {operator.name.decode()}: {why}")
                continue
            packed += 1
            for place, encoded in zip((1, 2), data, strict=True):
                args[place] = new_constant(program, plan, plan.values[args[place]], encoded)
            call.args = args
            call.opIndex = overloaded(plan, call.opIndex, OVERLOAD, overloads)
    return Packed(calls, packed, tuple(kept))


def _encoded(operator: bytes, call: Call) -> tuple[bytes, bytes]:
    """Return packed weights and bias of a call; raise KeepError."""
    weight = call.array(1, "i1")
    offset = _OPERATORS[operator](call)
    rows = weight.reshape(weight.shape[0], -1)
    if rows.shape[1] % _STEP or not rows.size:
        raise KeepError(f"{rows.shape[1]} weights a filter, no multiple of {_STEP}")
    return encode(rows, call.array(2, "<i4"), offset, one_beyond=operator in _MENDING)


def overloaded(plan: Any, operator: int, overload: bytes, known: dict[int, int]) -> int:
    """Return the index of an operator's overload, added to the plan if `known` has none for the operator."""
    if operator not in known:
        known[operator] = len(plan.operators)
        other = copy.copy(plan.operators[operator])
        other.overload = overload
        plan.operators.append(other)
    return known[operator]


def new_constant(
    program: FlatProgram, plan: Any, value: Any, data: bytes, sizes: list[int] | None = None
) -> int:
    """Add a tensor like `value` with other data, and other sizes if told so; return its index."""
    program.constants.append(data)
    other = copy.copy(value)
    other.val = copy.copy(value.val)
    other.val.dataBufferIdx = len(program.constants) - 1
    if sizes is not None:
        other.val.sizes = sizes
    plan.values.append(other)
    return len(plan.values) - 1
