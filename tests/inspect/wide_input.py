"""A network whose float input is the largest thing in its memory plan."""

from __future__ import annotations

import torch
from torch import nn


def build() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Return the module, seeded, and an input."""
    torch.manual_seed(4)
    module = nn.Sequential(nn.Linear(512, 16), nn.ReLU(), nn.Linear(16, 4))
    return module.eval(), (torch.randn(1, 512),)
