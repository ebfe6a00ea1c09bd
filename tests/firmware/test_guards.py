"""A kernel that writes beside its output is seen on the device, made for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.board import all_boards
from bench.bundle import Inject
from bench.targets import Request
from bench.targets.qemu import QemuTarget
from bench.wire import read_lines
from tests.firmware.support import DEADLINE_S, NONCE, run_on, upstream_bundle
from tests.patched_image import patched_image

pytestmark = [pytest.mark.toolchain, pytest.mark.qemu]
KERNEL = "runtime/kernels/ref/dequantize_per_tensor.cpp"


def test_one_element_past_the_output(tmp_path: Path) -> None:
    """The last of linear's four instructions writes an element too many: the guard says how much and which."""
    board = all_boards()["mps2-an386"]
    text = Path(KERNEL).read_text()
    (line,) = [one for one in text.splitlines() if one.lstrip().startswith("for (uint32_t i = 0;")]
    past = line.replace("i < ", "i < 1 + ", 1)
    image = patched_image(board, KERNEL, line, past, tmp_path)
    bundle = upstream_bundle(board, "linear", warmup=0, iterations=1, all_outputs=False)

    transcript = QemuTarget().run(Request(board, image, bundle, NONCE, DEADLINE_S))

    lines, _, _ = read_lines(transcript.raw)
    (guard,) = [one.fields for one in lines if one.kind == "guard"]
    assert guard["damaged"] == "0"
    assert 1 <= int(guard["beside_damaged"]) <= 4
    assert guard["i"] == "3"


# The last output of linear is the first thing in its plan: what is in front of one is in front of the other.
FRONT = {"front_damaged": "1", "beside_damaged": "1", "i": "3"}
GUARDS = {
    Inject.WRITE_IN_FRONT: FRONT,
    Inject.WRITE_BEHIND: {"damaged": "1"},
    Inject.WRITE_FIXED: {"fixed_damaged": "1"},
    Inject.WRITE_IN_FRONT_OF_OUTPUT: FRONT,
    Inject.WRITE_BEHIND_OUTPUT: {"beside_damaged": "1", "i": "3"},
}
INTACT = {"damaged": "0", "front_damaged": "0", "fixed_damaged": "0", "beside_damaged": "0"}


@pytest.mark.parametrize("inject", GUARDS, ids=lambda inject: inject.name.lower())
@pytest.mark.parametrize("board_id", ["mps2-an386", "mps3-an547"])
def test_one_byte_on_either_side_of_each_memory(board_id: str, inject: Inject) -> None:
    """One byte changed on the device: its guards say so, with the output's instruction, and no others do."""
    board = all_boards()[board_id]
    bundle = upstream_bundle(board, "linear", warmup=0, iterations=0, inject=inject)

    guard = run_on(board, bundle).one("guard")

    said = {key: guard[key] for key in (*INTACT, "i") if key in guard}
    assert INTACT | GUARDS[inject] == said
