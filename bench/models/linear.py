"""A two-layer perceptron, 64-32-10 with ReLU: the smallest program that has every int8 step."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs

SHAPE = (1, 64)


def build() -> ModelDefinition:
    """Return the model with seeded random weights."""
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).eval()
    tests = normal_inputs(SHAPE, 8, seed=12)
    return ModelDefinition(
        module=module,
        example_inputs=tests[0],
        calibration=normal_inputs(SHAPE, 32, seed=11),
        test_inputs=tests,
        classes=10,
        description="two fully connected layers, 64-32-10",
    )
