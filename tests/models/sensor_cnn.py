"""A 1-D CNN for 128 samples of 3 accelerometer channels: strided, dilated and grouped convolutions, pooling, PReLU."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition

SAMPLES, CHANNELS, CLASSES = 128, 3, 6


def network() -> nn.Module:
    """Return the network with random weights."""
    return nn.Sequential(
        *(nn.Conv1d(CHANNELS, 16, 5, stride=2, padding=2), nn.BatchNorm1d(16), nn.ReLU()),
        *(nn.Conv1d(16, 24, 3, padding=2, dilation=2), nn.BatchNorm1d(24), nn.PReLU(24)),
        nn.MaxPool1d(2),
        *(nn.Conv1d(24, 24, 3, padding=1, groups=24), nn.Conv1d(24, 32, 1), nn.LeakyReLU(0.1)),
        *(nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, CLASSES)),
    )


def build() -> ModelDefinition:
    """Return the network with weights of a fixed seed."""
    torch.manual_seed(0)
    inputs = [(torch.randn(1, CHANNELS, SAMPLES),) for _ in range(12)]
    return ModelDefinition(
        network().eval(), inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:11]
    )
