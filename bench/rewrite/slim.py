"""Remove what no instruction uses: values, constants, operators, and what only a debugger or a Python caller reads.

ExecuTorch leaves original weights, scales and zero points of a quantized graph in the program, and the tensors of the
nodes that the lowering replaced. The program stays a valid .pte for every runtime: inputs, outputs and instructions are
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from executorch_flatbuffer.KernelTypes import KernelTypes

from bench.rewrite.flat import FlatProgram, is_tensor

_LISTS = (KernelTypes.IntList, KernelTypes.TensorList, KernelTypes.OptionalTensorList)


@dataclass(frozen=True)
class Removed:
    """What was taken out."""

    values: int
    constants: int
    constant_bytes: int


def slim(program: FlatProgram) -> Removed:
    """Remove what no instruction, input or output uses, in every method, and renumber the rest."""
    before = len(program.constants), sum(map(len, program.constants))
    values = sum(_drop_values(plan) for plan in program.table.executionPlan)
    _merge_constants(program)
    after = len(program.constants), sum(map(len, program.constants))
    return Removed(values, before[0] - after[0], before[1] - after[1])


def _drop_values(plan: Any) -> int:
    """Keep the values that are reached from instructions, inputs and outputs; return how many went."""
    calls = [call.instrArgs for chain in plan.chains for call in chain.instructions or ()]
    new, kept = _renumber(plan, _used(plan, calls))
    dropped = len(plan.values) - len(kept)
    for index in kept:
        value = plan.values[index]
        if value.valType in _LISTS:
            value.val.items = [new[item] for item in _items(value.val)]
    plan.values = [plan.values[index] for index in kept]
    plan.inputs = [new[int(index)] for index in plan.inputs]
    plan.outputs = [new[int(index)] for index in plan.outputs]
    operators: dict[int, int] = {}
    for call in calls:
        call.args = [new[int(index)] for index in call.args]
        call.opIndex = operators.setdefault(call.opIndex, len(operators))
    plan.operators = [plan.operators[index] for index in operators]
    for chain in plan.chains:
        chain.stacktrace = None
    return dropped


def _used(plan: Any, calls: list[Any]) -> set[int]:
    """Return the indices of values that something names, itself or in a list."""
    used: set[int] = set()
    found = [int(index) for index in (*plan.inputs, *plan.outputs)]
    found += [int(index) for call in calls for index in call.args]
    while found:
        index = found.pop()
        if index < 0 or index in used:
            continue
        used.add(index)
        value = plan.values[index]
        if value.valType in _LISTS:
            found += _items(value.val)
    return used


def _renumber(plan: Any, used: set[int]) -> tuple[dict[int, int], list[int]]:
    """Return each used value's new index, and the old ones of those that stay: equal numbers become one value."""
    ends = {int(index) for index in (*plan.inputs, *plan.outputs)}
    kept: list[int] = []
    new: dict[int, int] = {-1: -1}
    known: dict[tuple[Any, ...], int] = {}
    for index in sorted(used):
        key = None if index in ends else _constant_key(plan.values[index])
        if key is not None and key in known:
            new[index] = known[key]
            continue
        new[index] = len(kept)
        if key is not None:
            known[key] = len(kept)
        kept.append(index)
    return new, kept


def _items(value: Any) -> list[int]:
    return [] if value.items is None else [int(item) for item in value.items]


def _constant_key(value: Any) -> tuple[Any, ...] | None:
    """Return what makes two values the same one; None for what has an identity of its own."""
    kind = value.valType
    if kind == KernelTypes.Null:
        return (kind,)
    if kind == KernelTypes.Int:
        return kind, value.val.intVal
    if kind == KernelTypes.Bool:
        return kind, value.val.boolVal
    if kind == KernelTypes.Double:
        return kind, value.val.doubleVal.hex() if isinstance(value.val.doubleVal, float) else None
    return None


def _merge_constants(program: FlatProgram) -> None:
    """Drop constants that no tensor refers to; keep one of several that are equal."""
    tensors = [
        value.val
        for plan in program.table.executionPlan
        for value in plan.values
        if is_tensor(value) and value.val.dataBufferIdx
    ]
    kept: list[bytes] = [b""]
    new: dict[int, int] = {}
    known: dict[bytes, int] = {}
    for index in sorted({tensor.dataBufferIdx for tensor in tensors}):
        data = program.constants[index]
        if data not in known:
            known[data] = len(kept)
            kept.append(data)
        new[index] = known[data]
    for tensor in tensors:
        tensor.dataBufferIdx = new[tensor.dataBufferIdx]
    program.constants = kept
