"""An image with one kernel that is off by one in one channel: `bench diff` names layer, channel and how far."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench import build
from bench.board import all_boards
from bench.cli import app
from tests.patched_image import patched_image

MODEL = str(Path(__file__).with_name("small_model.py"))
CHANNEL = 5
CONVOLUTIONS = {1: 8 * 8, 2: 4 * 4}  # instruction -> elements of a channel
END = "  return Error::kOk;\n}\n\n}  // namespace\n"
WRONG = {  # board -> its kernel's file, a place in it, and the fault that goes there
    "host": (
        "runtime/kernels/ref/quantized_conv2d.cpp",
        "*result++ = stage(sum, c);",
        f"*result++ = static_cast<int8_t>(stage(sum, c) ^ (c == {CHANNEL} ? 1 : 0));",
    ),
    "mps2-an386": (
        "runtime/kernels/dsp/quantized_conv2d.cpp",
        END,
        (
            f"  for (uint32_t i = {CHANNEL}; i < out.numel(); i += static_cast<uint32_t>(out.size(1))) "
            f"out.as<int8_t>()[i] ^= 1;\n{END}"
        ),
    ),
}


@pytest.mark.toolchain
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.qemu) if n != "host" else n for n in WRONG])  # fmt: skip
def test_kernel_that_is_off_by_one_in_a_channel_is_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every element of that channel of the first convolution differs by one step, no other one; exit code 1."""
    image = patched_image(all_boards()[name], *WRONG[name], tmp_path)
    monkeypatch.setattr(build, "build_image", lambda *_board_and_engine: image)

    shown = CliRunner().invoke(app, ["diff", MODEL, f"--board={name}", "--json"])
    told = json.loads(shown.stdout)
    first = told["layers"][1]

    assert (1, 1) == (shown.exit_code, told["first"])
    assert (CONVOLUTIONS[1], 1.0, True) == (first["differing"], first["largest"], first["in_steps"])
    assert [{"channel": CHANNEL, "differing": CONVOLUTIONS[1], "largest": 1.0}] == first["channels"]
    assert 0 == told["layers"][0]["differing"]
    assert CHANNEL in {one["channel"] for one in told["layers"][2]["channels"]}
