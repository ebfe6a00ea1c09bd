"""Loading is bounded by the file's size: what names its parts over and over is refused (docs/robustness.md)."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Runner
from tests.runtime.tangled import INT_LIST, TENSOR_LIST, Tangle

TANGLED = {
    "instructions that share long arguments": Tangle(
        instructions=500, arguments=[0] * 500, name="aten::relu"
    ),
    "a list of tensors named again and again": Tangle(
        instructions=300, arguments=[2, 2, 2], items=2000, list_kind=TENSOR_LIST
    ),
    "a list of integers named again and again": Tangle(
        instructions=300, arguments=[2, 2, 2], items=2000, list_kind=INT_LIST
    ),
    "many values that are one list": Tangle(
        arguments=list(range(2, 500)), items=2000, lists=500, list_kind=TENSOR_LIST
    ),
    "tensors behind many buffers": Tangle(
        arguments=list(range(3, 700)), buffers=600, dead=700, list_kind=TENSOR_LIST
    ),
}


def test_a_tangle_of_one_runs(runner: Runner) -> None:
    """The program that the others are made of: relu of four floats, which are 0."""
    run = runner.run_bytes(Tangle().pte())

    assert "error" not in run.facts
    assert bytes(16) == run.output


@pytest.mark.parametrize("what", TANGLED)
def test_what_names_more_than_its_size_allows_is_refused(runner: Runner, what: str) -> None:
    """Each way to name a part more often than an honest file could."""
    assert "program-tangled" == runner.run_bytes(TANGLED[what].pte()).facts["error"]


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("instructions that share long arguments", "program-tangled"),
        ("a list of tensors named again and again", "program-tangled"),
        ("many values that are one list", "program-tangled"),
        ("a list of integers named again and again", "arena-too-small"),  # nobody looks at them
        ("tensors behind many buffers", "arena-too-small"),
    ],
)
def test_the_count_of_tensors_is_bounded_too(runner: Runner, what: str, error: str) -> None:
    """Where the arena is too small, tensors are counted without memory."""
    path = runner._scratch / "tangled.pte"
    path.write_bytes(TANGLED[what].pte())

    assert error == runner.run(path, arena_bytes=64).facts["error"]
