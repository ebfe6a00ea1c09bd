"""Results that lie where an operand died: nothing is written over that is read again, and only if asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.pte import SCRATCH_ARGUMENTS
from bench.rewrite.flat import FlatProgram, is_tensor, nbytes, read_flat, write_flat
from bench.rewrite.plan import plan_memory
from bench.rewrite.slim import slim

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
PROGRAMS = sorted(path.stem for path in UPSTREAM.glob("*.pte"))


def flat(name: str) -> FlatProgram:
    """Read one of upstream's programs, without what is dead."""
    program = read_flat((UPSTREAM / f"{name}.pte").read_bytes())
    slim(program)
    return program


def spans(program: FlatProgram) -> dict[int, tuple[int, int]]:
    """Return first and last byte of each planned tensor (these programs have one buffer)."""
    return {
        index: (
            int(value.val.allocationInfo.memoryOffsetLow),
            int(value.val.allocationInfo.memoryOffsetLow) + nbytes(value.val),
        )
        for index, value in enumerate(program.plan("forward").values)
        if is_tensor(value) and value.val.allocationInfo is not None
    }


def shared(program: FlatProgram) -> list[str]:
    """Follow what lies where, instruction by instruction; return the operators whose result replaced an operand.

    Raises:
        AssertionError: something is read that was written over.
    """
    plan, place = program.plan("forward"), spans(program)
    whole = {int(index) for index in plan.inputs if int(index) in place}
    written = set(whole)
    found = []

    def write(index: int) -> set[int]:
        start, end = place[index]
        gone = {i for i in whole if i != index and place[i][0] < end and start < place[i][1]}
        whole.difference_update(gone)
        whole.add(index)
        written.add(index)
        return gone

    for instruction in plan.chains[0].instructions:
        call = instruction.instrArgs
        name = plan.operators[call.opIndex].name.decode()
        args = [int(index) for index in call.args]
        results = {args[-1], *(args[p] for p in SCRATCH_ARGUMENTS.get(name, ()))}
        read = [index for index in args if index in written and index not in results]
        assert set(read) <= whole, name
        gone = set().union(*(write(index) for index in results if index in place))
        if gone & set(read):
            found.append(name)
    assert {int(index) for index in plan.outputs if int(index) in place} <= whole
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_read_that_was_written_over(name: str) -> None:
    """In place is never larger than apart, and survives being written, read and planned again."""
    apart = plan_memory(flat(name)).after
    program = flat(name)

    planned = plan_memory(program, in_place=True)

    again = read_flat(write_flat(program))
    assert planned.after <= apart
    assert set(shared(program)) <= {"cortex_m::quantize_per_tensor", "cortex_m::quantized_add"}
    assert plan_memory(again, in_place=True).after == planned.after
    shared(again)


def test_mobilenet_quantizes_its_input_in_place() -> None:
    """Then the first convolution has beside it 48 x 48 x 8 outputs and scratch, and not 96 x 96 x 3 more before it."""
    program = flat("mobilenet_v1_025_cortex-m4")
    scratch = 112

    planned = plan_memory(program, in_place=True)

    assert 4 * 96 * 96 * 3 + 48 * 48 * 8 + scratch == planned.after
    assert ["cortex_m::quantize_per_tensor"] == shared(program)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_lie_apart_unless_asked(name: str) -> None:
    """What upstream's own kernels do in place is not known."""
    program = flat(name)
    plan_memory(program)

    assert [] == shared(program)
