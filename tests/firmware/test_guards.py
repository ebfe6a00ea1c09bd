"""A kernel that writes beside its output is seen on the device, made for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.board import all_boards
from bench.targets import Request
from bench.targets.qemu import QemuTarget
from bench.wire import read_lines
from tests.firmware.support import DEADLINE_S, NONCE, upstream_bundle
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
