"""Tensors of a memory plan that lie together, and results that take the place of an operand that dies there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.rewrite.flat import element_bytes

# Operators whose every kernel here reads an element of such an operand before it writes over it, and reads none again
# (tests/kernels_device runs them in place), and the places of those operands.
IN_PLACE = {"cortex_m::quantized_add": (0, 4), "cortex_m::quantize_per_tensor": (0,)}


@dataclass(frozen=True)
class Block:
    """Tensors that lie together: indices and their offsets in the block, its size and life, both ends included."""

    members: tuple[tuple[int, int], ...]
    size: int
    first: int
    last: int

    def meets(self, other: Block) -> bool:
        """Whether both live at some instruction."""
        return self.first <= other.last and other.first <= self.last


def joined_in_place(plan: Any, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with those joined whose tensors can be one after another in the same bytes."""
    found = list(blocks)
    for when, instruction in enumerate(plan.chains[0].instructions or []):
        call = instruction.instrArgs
        operator = plan.operators[call.opIndex].name.decode()
        result = int(call.args[-1])
        for place in IN_PLACE.get(operator, ()):
            operand = int(call.args[place])
            dying = _alone(plan, found, operand)
            born = _alone(plan, found, result)
            if dying is None or born is None or dying is born or not _alike(plan, operand, result):
                continue
            if dying.last == when == born.first:
                members = (*dying.members, *born.members)
                joined = Block(members, dying.size, dying.first, born.last)
                found = [*(one for one in found if one not in (dying, born)), joined]
                break
    return found


def _alone(plan: Any, blocks: Sequence[Block], index: int) -> Block | None:
    """Return the block of a tensor that is all of it, or the last of those that were joined in it; None for views."""
    for block in blocks:
        members = [member for member, _ in block.members]
        if index in members:
            chain = itertools.pairwise(members)
            alone = members[-1] == index and all(_joined(plan, *pair) for pair in chain)
            return block if alone else None
    return None


def _joined(plan: Any, operand: int, result: int) -> bool:
    """Whether an operator of IN_PLACE makes the result of the operand."""
    for instruction in plan.chains[0].instructions or []:
        call = instruction.instrArgs
        places = IN_PLACE.get(plan.operators[call.opIndex].name.decode(), ())
        if int(call.args[-1]) == result:
            return any(int(call.args[place]) == operand for place in places)
    return False


def _alike(plan: Any, a: int, b: int) -> bool:
    """Whether two tensors have the same shape and layout, and no element of `b` is larger."""
    one, other = plan.values[a].val, plan.values[b].val
    return element_bytes(one) >= element_bytes(other) and all(
        list(x if x is not None else ()) == list(y if y is not None else ())
        for x, y in ((one.sizes, other.sizes), (one.dimOrder, other.dimOrder))
    )
