"""What measuring costs an inference: the marks add nothing that counts, the plugin changes nothing."""

from __future__ import annotations

import pytest

from bench.board import find_boards
from benchmarks.measuring_cost import LIMIT, Cost, measure


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_marks_add_less_than_a_thousandth_to_a_large_model(board: str) -> None:
    """MobileNetV1 has millions of instructions; the transcripts with and without the plugin are compared inside."""
    (chosen,) = find_boards(board)
    cost = measure(chosen, "mobilenet_v1_025", runs=1)

    assert cost.instructions > 1_000_000
    assert 0 < cost.mark_instructions < 100
    assert cost.share < LIMIT
    assert not cost.too_much


def test_what_is_too_much() -> None:
    """A thousandth and more, of more than a million."""
    assert Cost("b", "m", 1_000_001, 1_001, 1.0, 1.0, 1.0).too_much
    assert not Cost("b", "m", 1_000_001, 900, 1.0, 1.0, 1.0).too_much
    assert not Cost("b", "m", 50_000, 900, 1.0, 1.0, 1.0).too_much
