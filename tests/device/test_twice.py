"""Memory is static, so a run repeats: the same image, twice on the same input, counts and answers the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.bundle import Options
from bench.pipeline import run_case
from bench.program import Program
from tests.device.conftest import attempt_of, trained, vector

pytestmark = [pytest.mark.toolchain, pytest.mark.qemu]
CPUS = {"mps2-an386": "cortex-m4", "mps3-an547": "cortex-m55"}
MODELS = ("linear", "ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder", "transformer_block")


def _assert_repeats(board: str, program: Program) -> None:
    attempt = attempt_of(board, program, Options(warmup=1, iterations=2, operator_ticks=True))
    attempt = replace(
        attempt, plan=replace(attempt.plan, resets=2, deployment=False, estimate=False)
    )

    record = run_case(attempt).record

    found = {m.unit: (m.median, m.n) for m in record.measures if m.name == "determinism"}
    assert {"outputs": (0, 2), "windows": (0, 2)} == found  # how many differ, of how many runs
    latency = record.find("latency")
    assert latency is not None
    assert len(set(latency.values)) == 1
    assert not {"not-deterministic", "unsteady-count", "guard-damaged", "output-unwritten"} & {
        issue.code for issue in record.issues
    }


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("board", CPUS)
def test_runs_from_reset_are_equal(board: str, model: str) -> None:
    """Every output byte, and every window's count of instructions, between resets; and between inferences of one."""
    _assert_repeats(board, vector(model, CPUS[board])[0])


@pytest.mark.parametrize("board", CPUS)
def test_the_trained_model_too(board: str) -> None:
    """Digits, with 8 samples of its data set."""
    _assert_repeats(board, trained(board))
