"""Float programs as ExecuTorch lowers them without a backend: our outputs are torch's, in every layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name
from executorch.exir import to_edge
from torch import nn

from tests.runtime.conftest import Runner

# Some twenty layers of float32 rounding; the outputs are of the size of 1.
TOLERANCE = 1e-5


class Images(nn.Module):
    """Every float operator that works on images."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(8, 5)
        self.register_buffer("gain", torch.rand(8, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return five probabilities."""
        x = F.relu(self.norm(self.first(x)))
        x = F.relu6(self.depthwise(x)) + F.max_pool2d(x, 3, stride=1, padding=1)
        x = F.pad(self.pointwise(x) * self.gain, (0, 1, 1, 0))
        x = torch.clamp(F.avg_pool2d(x, 2), -3.0, 3.0) - 0.25
        x = x * x.mean((2, 3), keepdim=True) + 0.5 * x
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return torch.softmax(self.head(x), dim=-1)


class Vectors(nn.Module):
    """Fully connected layers, and everything that reshapes."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(12, 16, bias=False)
        self.norm = nn.BatchNorm1d(16)
        self.second = nn.Linear(16, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a permuted block of numbers."""
        x = self.second(F.hardtanh(self.norm(self.first(x))))
        x = x.reshape(2, 3, 4).permute(2, 0, 1)
        return torch.sub(x.unsqueeze(1), x.mean(0, keepdim=True)).squeeze(1).reshape(6, 4)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(("build", "shape"), [(Images, (1, 3, 12, 12)), (Vectors, (2, 12))])
def test_outputs_are_torchs(
    runner: Runner,
    tmp_path: Path,
    build: type[nn.Module],
    shape: tuple[int, ...],
    *,
    channels_last: bool,
) -> None:
    """A lowered module gives torch's numbers, whether its images are channels-last or contiguous."""
    torch.manual_seed(1)
    module = build().eval()
    for norm in (m for m in module.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)):
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(0.5, 2)
    values = torch.randn(shape)
    if channels_last and len(shape) == 4:
        values = values.to(memory_format=torch.channels_last)
        module = module.to(memory_format=torch.channels_last)
    with torch.no_grad():
        expected = module(values).numpy()
    exported = torch.export.export(module, (values,), strict=False)
    program = tmp_path / "program.pte"
    program.write_bytes(to_edge(exported).to_executorch().buffer)
    given = tmp_path / "in.bin"
    given.write_bytes(values.permute(values.dim_order()).contiguous().numpy().tobytes())

    run = runner.run(program, given)

    assert "error" not in run.facts, run.facts
    actual = np.frombuffer(run.output, np.float32).reshape(expected.shape)
    assert np.abs(expected - actual).max() <= TOLERANCE
