"""The kernels of each core against the reference kernels, on the core itself."""

from __future__ import annotations

import functools

import pytest

from bench.board import find_boards
from tests.kernels_device.device import build, fast_boards, isa_of, run

BOARDS = [board.id for board in fast_boards()]


@functools.cache
def comparison(board_id: str) -> tuple[int, list[str]]:
    """Run the image once for all tests of the board."""
    board = find_boards(board_id)[0]
    return run(board, build(board, "compare"), deadline_s=300.0)


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_fast_kernels_equal_the_reference(board: str) -> None:
    """Random calls of each operator: same bytes, no access behind a tensor, no byte changed around one."""
    exit_code, lines = comparison(board)

    assert (0, "end good") == (exit_code, lines[-1] if lines else ""), "\n".join(lines)


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_fast_kernels_are_used(board: str) -> None:
    """Many random convolutions take the fast kernel, which alone asks for scratch that was not planned."""
    _, lines = comparison(board)
    done = {words[1]: words for words in map(str.split, lines) if words[0] == "done"}

    _, _, _, cases, _, scratch = done["quantized_conv2d"]
    assert int(scratch) > int(cases) // 4


@pytest.mark.qemu
@pytest.mark.parametrize("board", [one.id for one in fast_boards() if "dsp" in isa_of(one)])
@pytest.mark.parametrize("subject", ["quantized_conv2d_packed", "quantized_conv2d_winograd"])
def test_kernels_of_packed_weights_are_compared(board: str, subject: str) -> None:
    """Their images have them, and each call works in scratch."""
    _, lines = comparison(board)
    done = {words[1]: words for words in map(str.split, lines) if words[0] == "done"}

    _, _, _, cases, _, scratch = done[subject]
    assert int(scratch) == int(cases) >= 300
