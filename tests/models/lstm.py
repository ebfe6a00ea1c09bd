"""An LSTM over 12 steps of 6 sensor channels, and a classifier of its last state."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition

STEPS, CHANNELS, HIDDEN, CLASSES = 12, 6, 24, 5


class Classifier(nn.Module):
    """The last hidden state decides."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(CHANNELS, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the classes' scores."""
        states, _ = self.lstm(x)
        scores: torch.Tensor = self.out(states[:, -1])
        return scores


def build() -> ModelDefinition:
    """Return the network with weights of a fixed seed."""
    torch.manual_seed(0)
    inputs = [(torch.randn(1, STEPS, CHANNELS),) for _ in range(12)]
    return ModelDefinition(
        Classifier().eval(), inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:11]
    )
