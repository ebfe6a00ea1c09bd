"""On every emulated core: the bytes that ExecuTorch's own runtime gave for the same program and input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.pipeline import Outcome
from tests.device.conftest import EMULATED, vector

MODELS = (
    "linear",
    "autoencoder",
    "ds_cnn",
    "resnet8",
    "mobilenet_v1_025",
    "transformer_block",
)


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("board", [*EMULATED, "host"])
def test_outputs_equal_upstreams(
    board: str, model: str, cpu: str, run_once: Callable[..., Outcome]
) -> None:
    """Bit for bit, for programs lowered for either core: the reference kernels need no core's scratch."""
    program, expected = vector(model, cpu)

    outcome = run_once(board, program)

    assert outcome.log.outputs == {(0, 0): expected}
