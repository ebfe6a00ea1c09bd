"""A program of two methods that share a layer; `encode` takes an image and a vector, and gives two codes."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition


class Encoder(nn.Module):
    """Two inputs, two outputs."""

    def __init__(self, shared: nn.Module) -> None:
        super().__init__()
        self.conv, self.vector, self.shared = nn.Conv2d(2, 4, 3), nn.Linear(6, 16), shared

    def forward(self, image: torch.Tensor, vector: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the codes of both."""
        features = torch.relu(self.conv(image)).mean((2, 3), keepdim=True).flatten(1)
        return self.shared(features), self.vector(vector)


def build() -> ModelDefinition:
    """Return the program with weights of a fixed seed."""
    torch.manual_seed(0)
    shared = nn.Linear(4, 4)
    whole = nn.Sequential(shared, nn.ReLU(), nn.Linear(4, 3)).eval()
    pairs = [(torch.randn(1, 2, 8, 8), torch.randn(1, 6)) for _ in range(12)]
    codes = [(torch.randn(1, 4),) for _ in range(12)]
    encode = ModelDefinition(
        Encoder(shared).eval(), pairs[0], calibration=pairs[1:9], test_inputs=pairs[9:]
    )
    return ModelDefinition(
        whole,
        codes[0],
        calibration=codes[1:9],
        test_inputs=codes[9:],
        methods={"encode": encode},
    )
