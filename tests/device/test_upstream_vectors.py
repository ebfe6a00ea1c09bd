"""On every emulated core: the bytes that ExecuTorch's own runtime gave for the same program and input."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest

from bench.board import find_boards
from bench.pipeline import Outcome
from bench.rewrite.programs import Packing, packed
from tests.device.conftest import EMULATED, UPSTREAM, vector

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
    """Bit for bit, for programs lowered for either core: the reference kernels need no core's scratch.

    And twice on the same input, with other tensors' bytes in the plan before: as many instructions.
    """
    program, expected = vector(model, cpu)
    twice = int(cpu == "cortex-m4")

    outcome = run_once(board, program, iterations=twice)

    assert outcome.log.outputs == {(0, 0): expected}
    if twice and board != "host":
        assert outcome.log.ticks["latency_first"] == outcome.log.ticks["latency"]


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an386", "mps2-an500", "mps2-an505"])
@pytest.mark.parametrize("model", ["autoencoder", "ds_cnn", "resnet8", "mobilenet_v1_025"])
def test_packed_weights_change_no_output(
    board: str, model: str, run_once: Callable[..., Outcome]
) -> None:
    """Packed on the host, read by the kernels for packed weights: the same bytes, in fewer instructions."""
    program, expected = vector(model, "cortex-m4")
    plain = run_once(board, program)

    outcome = run_once(board, packed(program, find_boards(board)[0]))

    latency = [
        next(m.median for m in one.record.measures if m.name == "latency_first")
        for one in (plain, outcome)
    ]
    assert outcome.log.outputs == {(0, 0): expected}
    assert latency[1] < 0.97 * latency[0]


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("board", "cpu"),
    [("mps2-an386", "cortex-m4"), ("mps2-an500", "cortex-m7"), ("mps2-an505", "cortex-m33")],
)
def test_winograd_changes_no_output(board: str, cpu: str, run_once: Callable[..., Outcome]) -> None:
    """The same bytes, in at most 0.35 of upstream's instructions; what the run works in is counted."""
    program, expected = vector("resnet8", "cortex-m4")
    with (UPSTREAM / "figures.csv").open() as file:
        theirs = next(
            int(row["instructions"])
            for row in csv.DictReader(file)
            if (row["model"], row["cpu"]) == ("resnet8", cpu)
        )

    outcome = run_once(board, packed(program, find_boards(board)[0], Packing.WINOGRAD))

    counted = [one for one in outcome.record.measures if one.unit != "est_cycles"]
    measures = {one.name: one.median for one in counted}
    assert outcome.log.outputs == {(0, 0): expected}
    assert measures["latency_first"] <= 0.35 * theirs
    assert measures["ram_scratch"] >= 64 * 128 + 16 * 256 + 320 + 640
