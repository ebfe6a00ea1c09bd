"""A network with two convolutions and a fully connected layer, for tests of what looks inside programs."""

from __future__ import annotations

import torch
from torch import nn


def build() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Return the module, seeded, and an input."""
    torch.manual_seed(3)
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 4 * 4, 10),
    )
    return module.eval(), (torch.randn(1, 3, 8, 8),)
