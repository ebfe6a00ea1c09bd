"""Shapes and types that went wrong for others (docs/field_cases.md), as models."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition


def _images(module: nn.Module, *shape: int) -> ModelDefinition:
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    inputs = [(torch.randn(shape),) for _ in range(10)]
    return ModelDefinition(
        module.eval(), inputs[0], calibration=inputs[1:9], test_inputs=inputs[8:]
    )


def g06() -> ModelDefinition:
    """Return a transposed convolution whose padding is no multiple of its stride."""
    return _images(nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1), 1, 8, 4, 4)


def s08() -> ModelDefinition:
    """Return a flat kernel with SAME padding and a horizontal stride of 4."""
    return _images(nn.Conv2d(4, 8, (1, 7), stride=(1, 4), padding=(0, 3)), 1, 4, 1, 32)


def s11() -> ModelDefinition:
    """Return a layer of 300 channels."""
    return _images(nn.Conv2d(4, 300, 1), 1, 4, 4, 4)


class MixedSum(nn.Module):
    """The sum of whole numbers and others."""

    def forward(self, counts: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the float sum."""
        return counts + values


def s04() -> ModelDefinition:
    """Return a model with an input of int32 beside one of float32."""
    torch.manual_seed(0)
    counts = torch.randint(-9, 9, (2, 8)).to(torch.int32)
    return ModelDefinition(MixedSum().eval(), (counts, torch.randn(2, 8)))
