"""What a program may consist of beside its kernels, on the device: methods, ends, constants, buffers, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from executorch.exir import to_edge
from executorch.exir._serialize import _program
from executorch.exir._serialize._program import deserialize_pte_binary
from torch import nn

from bench.bundle import Options
from bench.foreign import foreign_program
from bench.pipeline import Outcome, RunFailedError, run_case
from tests.device.conftest import attempt_of
from tests.runtime.test_modules import Calls, lowered
from tests.runtime.test_programs import CASES, edited

pytestmark = pytest.mark.qemu
BOARDS = ("mps3-an547", "mps2-an386")
Inputs = tuple[torch.Tensor, ...]


def run(
    board: str, folder: Path, program: bytes, inputs: Inputs, method: str = ""
) -> tuple[Outcome, list[torch.Tensor]]:
    """Run a program once on given inputs; return the outcome and the outputs."""
    path = folder / "program.pte"
    path.write_bytes(program)
    files = []
    for index, values in enumerate(inputs):
        files.append(folder / f"in{index}.npy")
        np.save(files[-1], values.numpy())
    made = foreign_program(path, tuple(files), method)
    outcome = run_case(attempt_of(board, made, Options(warmup=0, iterations=0)))
    outputs = []
    for index, info in enumerate(made.manifest.outputs):
        stored = np.frombuffer(outcome.log.outputs[0, index], info.dtype)
        array = stored.reshape([info.shape[d] for d in info.dim_order])
        outputs.append(torch.from_numpy(array.transpose(np.argsort(info.dim_order)).copy()))
    return outcome, outputs


def compare(actual: list[torch.Tensor], expected: Any) -> None:
    """Compare all outputs, each in its type."""
    wanted = expected if isinstance(expected, tuple | list) else [expected]
    assert len(wanted) == len(actual)
    for one, other in zip(actual, wanted, strict=True):
        torch.testing.assert_close(one, other.detach().contiguous(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("board", BOARDS)
def test_methods_by_name(board: str, tmp_path: Path) -> None:
    """A program of two methods runs the one that is asked for, lab and deployment image alike."""
    torch.manual_seed(1)
    first, second = nn.Linear(4, 3).eval(), nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()
    x, y = torch.randn(1, 4), torch.randn(1, 2)
    exported = {
        "forward": torch.export.export(first, (x,), strict=False),
        "encode": torch.export.export(second, (y,), strict=False),
    }
    program = bytes(to_edge(exported).to_executorch().buffer)

    compare(run(board, tmp_path, program, (x,))[1], first(x))
    outcome, outputs = run(board, tmp_path, program, (y,), "encode")
    compare(outputs, second(y))
    assert "program-encode" == outcome.record.model.name
    unlike = outcome.record.find("mismatch_deployment", "bytes")
    assert unlike is not None
    assert 0 == unlike.median


@pytest.mark.parametrize("board", BOARDS)
def test_several_ends_of_several_types(board: str, tmp_path: Path) -> None:
    """Float, int8 and int64 inputs and outputs keep order and type; a number among the inputs asks for nothing."""
    torch.manual_seed(2)
    module = Calls(lambda a, n, b, c: (a * n + b, c.flip(0), b - a, torch.arange(3) + 1))
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    c = torch.tensor([-128, 0, 127], dtype=torch.int8)

    outputs = run(board, tmp_path, lowered(module, (a, 3, b, c)), (a, b, c))[1]

    compare(outputs, module(a, 3, b, c))


@pytest.mark.parametrize("board", BOARDS)
def test_constants_in_the_flatbuffer(board: str, tmp_path: Path) -> None:
    """Constants may lie inside the flatbuffer in place of a segment."""
    torch.manual_seed(3)
    module, x = nn.Linear(7, 5).eval(), torch.randn(3, 7)
    program = _program.deserialize_pte_binary(lowered(module, (x,))).program
    inside = bytes(
        _program._program_to_flatbuffer(
            program, constant_tensor_alignment=16, delegate_alignment=16
        ).data
    )

    compare(run(board, tmp_path, inside, (x,))[1], module(x))

    assert b"eh00" not in inside


def spread(plan: Any) -> None:
    """Put two tensors into planned buffers of their own."""
    plan.non_const_buffer_sizes += [65, 64]
    for i, buffer in zip((1, 2), (2, 3), strict=True):
        output = plan.values[plan.chains[0].instructions[i - 1].instr_args.args[-1]].val
        output.allocation_info.memory_id = buffer
        output.allocation_info.memory_offset_low = 0


@pytest.mark.parametrize("board", BOARDS)
def test_several_planned_buffers(board: str, tmp_path: Path) -> None:
    """Buffers lie one behind the other, each 16-byte aligned; the outputs do not change."""
    path = tmp_path / "program.pte"
    outputs, planned = [], []
    for edit in (lambda plan: plan, spread):
        path.write_bytes(edited(edit))
        outcome = run_case(
            attempt_of(board, foreign_program(path), Options(warmup=0, iterations=0))
        )
        outputs.append(outcome.log.outputs[0, 0])
        planned.append(outcome.log.pools["planned"].used)

    assert outputs[0] == outputs[1]
    assert planned[1] - planned[0] == 80 + 64


def dynamic_shapes(_: object) -> bytes:
    """Return a program whose input has one to eight rows."""
    rows = torch.export.Dim("rows", min=1, max=8)
    exported = torch.export.export(
        Calls(lambda a: a + 1.0),
        (torch.randn(4, 2),),
        dynamic_shapes=(({0: rows},),),
        strict=False,
    )
    return bytes(to_edge(exported).to_executorch().buffer)


REFUSED: dict[str, tuple[Callable[[Any], bytes], str]] = {
    "dynamic-shapes": (dynamic_shapes, "dynamic-shape-unsupported"),
    **{
        name: (edited, CASES[name][1])
        for name in ("jump", "move", "delegate", "delegate-call", "free", "external-data")
    },
}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("flaw", REFUSED)
def test_what_is_not_supported_is_named_at_load(board: str, flaw: str, tmp_path: Path) -> None:
    """The device itself refuses the program before it runs, with the fault's own name."""
    make, code = REFUSED[flaw]
    path = tmp_path / "program.pte"
    path.write_bytes(make(CASES[flaw][0] if flaw in CASES else None))

    with pytest.raises(RunFailedError) as caught:
        run_case(attempt_of(board, foreign_program(path), Options(warmup=0, iterations=0)))

    fault = caught.value.fault
    assert code in str(fault), str(fault)
    assert "invalid" == caught.value.record.status.value


def test_programs_of_the_test_are_what_they_seem() -> None:
    """The edited program has a jump, so that its refusal is no accident."""
    plan = deserialize_pte_binary(edited(CASES["jump"][0])).program.execution_plan[0]

    assert "JumpFalseCall" == type(plan.chains[0].instructions[0].instr_args).__name__
