"""What float inputs and outputs cost an int8 program: the what-if of int8 ends, from the program's own memory plan.

An int8 program begins by quantizing its float inputs and ends by dequantizing its outputs. Without these the int8
tensors behind them are the ends; float tensors, instructions and, where nothing else needs them, two kernels go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from executorch_flatbuffer import KernelTypes, TensorList

from bench.pte import calls, flat_plan, planned_range

_QUANTIZE = frozenset({"cortex_m::quantize_per_tensor", "quantized_decomposed::quantize_per_tensor"})  # fmt: skip
_DEQUANTIZE = frozenset({"cortex_m::dequantize_per_tensor", "quantized_decomposed::dequantize_per_tensor"})  # fmt: skip


@dataclass(frozen=True)
class FloatEnds:
    """The float ends of a program.

    Attributes:
        instructions: of the program, that quantize an input or dequantize into an output; none if it has none.
        operators: that only these instructions need.
        live_bytes: of the memory plan, most that is alive at once: no plan can be smaller.
        live_bytes_without: the same without the float tensors at the ends.
    """

    instructions: tuple[int, ...]
    operators: frozenset[str]
    live_bytes: int
    live_bytes_without: int


@dataclass(frozen=True)
class _Call:
    index: int
    operator: str
    values: tuple[int, ...]


def find_float_ends(data: bytes, method: str) -> FloatEnds:
    """Return the float ends of a program that `read_pte` took.

    An input that anything but one quantization uses stays as it is, and so does an output that something else reads.
    """
    plan, sizes = flat_plan(data, method)
    made = [_Call(i, _operator(plan, call), tuple(_values(plan, call))) for i, call in calls(plan)]
    inputs = {plan.Inputs(i) for i in range(plan.InputsLength())}
    outputs = {plan.Outputs(i) for i in range(plan.OutputsLength())}
    ends = {}  # instruction -> (float tensor, the int8 tensor that takes its place)
    for call in made:
        name, first, last = call.operator.split(".")[0], call.values[0], call.values[-1]
        users = {one.index for one in made if (first if name in _QUANTIZE else last) in one.values}
        if users != {call.index}:
            continue
        if name in _QUANTIZE and first in inputs:
            ends[call.index] = (first, last)
        elif name in _DEQUANTIZE and last in outputs:
            ends[call.index] = (last, first)
    kept = [call for call in made if call.index not in ends]
    gone = {old for old, _ in ends.values()}
    new_inputs = inputs - gone | {new for old, new in ends.values() if old in inputs}
    new_outputs = outputs - gone | {new for old, new in ends.values() if old in outputs}
    return FloatEnds(
        tuple(ends),
        frozenset(call.operator for call in made) - {call.operator for call in kept},
        _live(plan, sizes, made, inputs, outputs),
        _live(plan, sizes, kept, new_inputs, new_outputs),
    )


def _operator(plan: Any, call: Any) -> str:
    operator = plan.Operators(call.OpIndex())
    name, overload = (
        text.decode() if text else "" for text in (operator.Name(), operator.Overload())
    )
    return f"{name}.{overload}" if overload else name


def _values(plan: Any, call: Any) -> Iterator[int]:
    """Iterate a call's arguments, the items of tensor lists among them."""
    for place in range(call.ArgsLength()):
        index = call.Args(place)
        value = plan.Values(index)
        if value.ValType() == KernelTypes.KernelTypes.TensorList:
            items = TensorList.TensorList()
            items.Init(value.Val().Bytes, value.Val().Pos)
            yield from (items.Items(i) for i in range(items.ItemsLength()))
        yield index


def _live(
    plan: Any, sizes: list[int], made: list[_Call], inputs: set[int], outputs: set[int]
) -> int:
    """Return the most bytes of the plan that are alive at once; a tensor lives from its first use to its last.

    Inputs live from before the first instruction, outputs until after the last. Tensors that share bytes while both are
    alive (a view and what it looks at) count once.
    """
    lives: dict[int, tuple[int, int]] = {}
    uses = [(-1, inputs), *((call.index, call.values) for call in made)]
    end = made[-1].index + 1 if made else 0
    for time, values in [*uses, (end, outputs)]:
        for value in values:
            lives[value] = (lives.get(value, (time, time))[0], time)
    ranges = [
        (*planned_range(plan, value, sizes), first, last) for value, (first, last) in lives.items()
    ]
    return max(
        _covered([(start, start + size) for start, size, first, last in ranges if size and first <= time <= last])
        for time in [-1, *(call.index for call in made), end]
    )  # fmt: skip


def _covered(spans: list[tuple[int, int]]) -> int:
    """Return how many bytes lie in one span or more."""
    total = reached = 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total
