"""Loading takes no longer than a multiple of the file's size, whatever the file says (docs/robustness.md)."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from bench.board import all_boards
from bench.bundle import Options, pack
from tests.firmware.support import instructions, run_on
from tests.runtime.tangled import TENSOR_LIST, Tangle

pytestmark = [pytest.mark.toolchain, pytest.mark.qemu]
# Instructions a byte; what the worst of the programs below takes is in docs/robustness.md.
BOUND = 400
CAT = {"name": "aten::cat", "arguments": [2, 3, 1, 1], "list_kind": TENSOR_LIST}


def _shared_instructions(nbytes: int) -> Tangle:
    """All of one instruction: four names each, which is what four bytes may name."""
    return Tangle(instructions=nbytes // 4 - 200)


def _operators(nbytes: int) -> Tangle:
    """An operator for each instruction, so that each name is looked for."""
    count = nbytes // 56
    return Tangle(instructions=count, operators=count)


def _lists(nbytes: int) -> Tangle:
    """A list as long as may be, named as often as may be: its tensors are looked at each time."""
    items = nbytes // 8
    return Tangle(
        instructions=28, items=items, out_size=4 * items, padding_bytes=nbytes // 2 - 1000, **CAT
    )


WORST: dict[str, Callable[[int], Tangle]] = {
    "instructions": _shared_instructions,
    "operators": _operators,
    "lists": _lists,
}


@pytest.mark.parametrize("what", WORST)
def test_loading_is_bounded_by_the_files_size(what: str) -> None:
    """Programs that name as much as is let through: below the bound, and twice the file takes twice as long."""
    board = all_boards()["mps2-an386"]

    taken = {}
    for nbytes in (16 * 1024, 32 * 1024):
        pte = WORST[what](nbytes).pte()
        ran = run_on(board, pack(pte, [[bytes(16)]], Options(warmup=0, iterations=0)))
        ticks = int(ran.one("load")["ticks"])
        taken[nbytes] = instructions(ran, board, ticks) / len(pte)

    print(f"{what}: {taken} instructions a byte")  # noqa: T201  docs/robustness.md: pytest -rP
    assert max(taken.values()) < BOUND
    assert taken[16 * 1024] == pytest.approx(taken[32 * 1024], rel=0.1)


def test_giving_inputs_is_bounded_by_their_number() -> None:
    """One tensor that is named as an input over and over: twice as many inputs take twice as long, some dozens each."""
    board = all_boards()["mps2-an386"]

    taken = {}
    for count in (1000, 2000):
        pte = Tangle(inputs=count).pte()
        sample = [struct.pack("<4f", i, i, i, i) for i in range(count)]
        ran = run_on(board, pack(pte, [sample], Options(warmup=0, iterations=1)))
        (first,) = [line for line in ran.of("measure") if line.fields["name"] == "latency_first"]
        taken[count] = instructions(ran, board, int(first.fields["pre"])) / count

    print(f"{taken} instructions an input")  # noqa: T201  docs/robustness.md: pytest -rP
    assert max(taken.values()) < 150
    assert taken[1000] == pytest.approx(taken[2000], rel=0.1)
