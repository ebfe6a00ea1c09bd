"""A program that was tidied up still is upstream's: ExecuTorch's own runtime, of the wheel, loads and runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from executorch.runtime import Runtime

from bench.export.programs import ProgramFiles
from bench.rewrite.tidy import tidy

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
TOLERANCE = 1e-4  # of the largest output: other orders of summation


class Residual(torch.nn.Module):
    """Two convolutions whose result is added to what they began with, a pool, a view, a linear layer, a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.third = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.last = torch.nn.Linear(8 * 16, 5)
        self.unused = torch.nn.Linear(100, 100)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classify images of 8 x 8."""
        x = torch.relu(self.first(x))
        x = torch.relu(x + self.third(torch.relu(self.second(x))))
        x = torch.nn.functional.max_pool2d(x, 2)
        return torch.softmax(self.last(x.flatten(1)) * 2.0, dim=1)


@pytest.mark.parametrize("seed", [0, 1])
def test_upstreams_runtime_computes_what_torch_does(
    export_one: Callable[..., ProgramFiles], seed: int
) -> None:
    """Float kernels are in the wheel: outputs are torch's, twice in a row, on other inputs than those exported with."""
    torch.manual_seed(seed)
    module = Residual().eval()
    made = export_one(module, torch.randn(1, 3, 8, 8), scheme="fp32")
    method = Runtime.get().load_program(made.files["program.pte"]).load_method("forward")
    assert method is not None

    for _ in range(2):
        given = torch.randn(1, 3, 8, 8)
        with torch.no_grad():
            wanted = module(given)
        (got,) = method.execute(
            [given.contiguous(memory_format=torch.channels_last)]  # as the program wants its input
        )
        torch.testing.assert_close(got, wanted, atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("stem", sorted(p.stem for p in UPSTREAM.glob("*.pte")))
def test_upstreams_runtime_reads_an_int8_program(
    stem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The wheel has no kernels of `cortex_m`: all that loading says is that these are missing, each operator that is left."""
    program = Runtime.get().load_program(tidy((UPSTREAM / f"{stem}.pte").read_bytes()))
    with pytest.raises(RuntimeError, match="error: 0x:14"):  # OperatorMissing
        program.load_method("forward")
    said = capfd.readouterr().err
    missing = set(re.findall(r"Missing operator: \[\d+\] (\S+)", said))

    assert missing
    assert {name.split("::")[0] for name in missing} == {"cortex_m"}
    assert not re.search(r"Failed to|corrupt|Invalid", said.replace("Failed to load method", ""))
