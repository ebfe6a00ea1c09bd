"""Plan the memory of a program again: place planned tensors so that the buffers are as small as can be found.

A tensor's life is from the instruction that writes it to the last that reads it; inputs live from the start, outputs to
the end. Tensors that the exporter put over one another although they live together are views, and stay together.
Placement is lowest fit in some order; orders are the exporter's rule and others by size, life and their product, then a
bounded search over all orders, which is the whole of them for small programs (in the order of its offsets, lowest fit
gives any packing that cannot be pushed down). The exporter's own plan stays where nothing beats it.

If asked to, results take the place of operands that die there (`in_place.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.pte import SCRATCH_ARGUMENTS
from bench.rewrite.flat import FlatProgram, is_tensor, nbytes
from bench.rewrite.in_place import Block, joined_in_place

ALIGNMENT = 16
_NODES = 20_000  # of the search


@dataclass(frozen=True)
class Planned:
    """Bytes of a method's planned buffers.

    Attributes:
        before: as exported.
        after: as planned here; never more.
        bound: what lives at once at the busiest instruction, below which no plan can be.
    """

    before: int
    after: int
    bound: int


def plan_memory(
    program: FlatProgram, method: str = "forward", *, in_place: bool = False
) -> Planned:
    """Place the method's planned tensors anew, buffer by buffer, where that takes less memory.

    Args:
        program: is changed.
        method: whose plan it is.
        in_place: whether results may take the place of operands that die there: exact with the kernels here, not
            known of a foreign runtime's.
    """
    plan = program.plan(method)
    lives = _lives(plan)
    sizes = [int(size) for size in plan.nonConstBufferSizes]
    before, bound = sum(sizes[1:]), 0
    for buffer in range(1, len(sizes)):
        blocks = _blocks(plan, lives, buffer)
        choices = [blocks, joined_in_place(plan, blocks)] if in_place else [blocks]
        bound += min(sizes[buffer], *(_bound(choice) for choice in choices))
        for choice in choices:
            offsets = _best(choice, sizes[buffer], _bound(choice))
            if offsets is None:
                continue
            sizes[buffer] = _height(choice, offsets)
            for block, offset in zip(choice, offsets, strict=True):
                for index, inside in block.members:
                    plan.values[index].val.allocationInfo.memoryOffsetLow = offset + inside
    plan.nonConstBufferSizes = sizes
    return Planned(before, sum(sizes[1:]), bound)


def _lives(plan: Any) -> dict[int, tuple[int, int]]:
    """Return the first and last instruction that names each value, itself or in a list.

    What is read before anything writes it is a view of what the exporter put at its place: it lives from when that was
    last named, so that the two meet.
    """
    lives: dict[int, tuple[int, int]] = {}

    def name(index: int, when: int) -> None:
        first, last = lives.get(index, (when, when))
        lives[index] = min(first, when), max(last, when)

    instructions = plan.chains[0].instructions or []
    for when, instruction in enumerate(instructions):
        for index in instruction.instrArgs.args:
            value = plan.values[int(index)]
            name(int(index), when)
            items = getattr(value.val, "items", None) if value.val is not None else None
            for item in () if items is None else items:
                if 0 <= int(item) < len(plan.values):
                    name(int(item), when)
    for index in plan.inputs:
        name(int(index), -1)
    for index in plan.outputs:
        name(int(index), len(instructions))
    return _with_views(plan, lives, instructions)


def _with_views(
    plan: Any, lives: dict[int, tuple[int, int]], instructions: Sequence[Any]
) -> dict[int, tuple[int, int]]:
    """Return the lives with those of views from when what they look at was last named."""
    given = {int(index) for index in plan.inputs}
    found = dict(lives)
    for index, (first, last) in lives.items():
        place = _span(plan, index)
        # an operator's results are its last arguments
        if place is None or index in given or index in _results(plan, instructions[first]):
            continue
        before = [
            ended
            for other, (_, ended) in lives.items()
            if other != index and ended < first and _same_bytes(place, _span(plan, other))
        ]
        if before:
            found[index] = max(before), last
    return found


def _results(plan: Any, instruction: Any) -> set[int]:
    """Return what an instruction writes: its last argument, or the items of that list, and its scratch."""
    call = instruction.instrArgs
    last = int(call.args[-1])
    value = plan.values[last]
    items = getattr(value.val, "items", None) if value.val is not None else None
    name = plan.operators[call.opIndex].name
    places = SCRATCH_ARGUMENTS.get(name.decode() if isinstance(name, bytes) else name, ())
    scratch = (int(call.args[place]) for place in places if place < len(call.args))
    return {last, *(int(item) for item in (() if items is None else items)), *scratch}


def _span(plan: Any, index: int) -> tuple[int, int, int] | None:
    """Return buffer, offset and size of a planned tensor."""
    value = plan.values[index]
    place = value.val.allocationInfo if is_tensor(value) else None
    return None if place is None else (place.memoryId, place.memoryOffsetLow, nbytes(value.val))


def _same_bytes(a: tuple[int, int, int], b: tuple[int, int, int] | None) -> bool:
    return b is not None and a[0] == b[0] and a[1] < b[1] + b[2] and b[1] < a[1] + a[2]


def _blocks(plan: Any, lives: dict[int, tuple[int, int]], buffer: int) -> list[Block]:
    """Return what is to be placed in a buffer."""
    found = []
    for index, (first, last) in lives.items():
        value = plan.values[index]
        place = value.val.allocationInfo if is_tensor(value) else None
        if place is not None and place.memoryId == buffer:
            found.append((place.memoryOffsetLow, index, nbytes(value.val), first, last))
    blocks: list[list[tuple[int, int, int, int, int]]] = []
    for one in sorted(found):
        together = [block for block in blocks if any(_overlap(one, other) for other in block)]
        merged = [one, *(other for block in together for other in block)]
        blocks = [*(block for block in blocks if block not in together), merged]
    return [_block(block) for block in blocks]


def _overlap(a: tuple[int, int, int, int, int], b: tuple[int, int, int, int, int]) -> bool:
    """Whether two tensors (offset, index, size, first, last) share bytes while both live."""
    memory = a[0] < b[0] + b[2] and b[0] < a[0] + a[2]
    return memory and a[3] <= b[4] and b[3] <= a[4]


def _block(tensors: Sequence[tuple[int, int, int, int, int]]) -> Block:
    # counted from a multiple of the alignment, so that every tensor keeps its own
    start = min(offset for offset, *_ in tensors) // ALIGNMENT * ALIGNMENT
    end = max(offset + size for offset, _, size, _, _ in tensors)
    return Block(
        tuple((index, offset - start) for offset, index, *_ in tensors),
        -(-(end - start) // ALIGNMENT) * ALIGNMENT,
        min(first for *_, first, _ in tensors),
        max(last for *_, last in tensors),
    )


def _bound(blocks: Sequence[Block]) -> int:
    """Return the most bytes that live at once."""
    return max(
        (sum(b.size for b in blocks if b.first <= when <= b.last) for when in _times(blocks)),
        default=0,
    )


def _times(blocks: Sequence[Block]) -> set[int]:
    return {block.first for block in blocks}


def _height(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    return max((o + b.size for b, o in zip(blocks, offsets, strict=True)), default=0)


def _lowest(block: Block, placed: Sequence[tuple[int, Block]]) -> int:
    """Return the lowest offset at which a block meets none that is placed; `placed` is in the order of offsets."""
    offset = 0
    for start, other in placed:
        if start >= offset + block.size:
            break
        if other.meets(block):
            offset = max(offset, start + other.size)
    return offset


def _place(blocks: Sequence[Block], order: Sequence[int]) -> list[int]:
    """Return offsets by lowest fit in an order of the blocks."""
    placed: list[tuple[int, Block]] = []
    offsets = [0] * len(blocks)
    for index in order:
        offsets[index] = _lowest(blocks[index], placed)
        placed.append((offsets[index], blocks[index]))
        placed.sort(key=lambda one: one[0])
    return offsets


_RULES: tuple[Callable[[Block], tuple[int, ...]], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (b.first, -b.size),
    lambda b: (b.first - b.last, -b.size),
    lambda b: (-b.size * (b.last - b.first + 1), b.first),
    lambda b: (b.last, -b.size),
)


def _best(blocks: Sequence[Block], have: int, bound: int) -> list[int] | None:
    """Return the offsets of the smallest packing that was found; None if none is smaller than `have`."""
    best, height = None, have
    for rule in _RULES:
        offsets = _place(blocks, sorted(range(len(blocks)), key=lambda i: rule(blocks[i])))
        if _height(blocks, offsets) < height:
            best, height = offsets, _height(blocks, offsets)
    if height > bound:
        for offsets in _search(blocks, height):
            if _height(blocks, offsets) < height:
                best, height = offsets, _height(blocks, offsets)
            if height <= bound:
                break
    return best


def _search(blocks: Sequence[Block], height: int) -> Iterator[list[int]]:
    """Yield ever smaller packings: depth first over orders by offset, for so many nodes."""
    order = sorted(range(len(blocks)), key=lambda i: -blocks[i].size)
    nodes, limit = 0, height
    stack: list[tuple[tuple[tuple[int, int], ...], int]] = [((), 0)]
    while stack and nodes < _NODES:
        placed, _ = stack.pop()
        nodes += 1
        if len(placed) == len(blocks):
            offsets = [0] * len(blocks)
            for offset, index in placed:
                offsets[index] = offset
            limit = min(limit, _height(blocks, offsets))
            yield offsets
            continue
        done = {index for _, index in placed}
        lying = sorted((offset, index) for offset, index in placed)
        view = [(offset, blocks[index]) for offset, index in lying]
        last = placed[-1][0] if placed else 0
        further = []
        for index in order:
            if index in done:
                continue
            offset = _lowest(blocks[index], view)
            # in the order of offsets, and below what is known to do
            if offset >= last and offset + blocks[index].size < limit:
                further.append(((*placed, (offset, index)), offset))
        stack += sorted(further, key=lambda one: -one[1])
