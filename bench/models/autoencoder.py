"""Deep autoencoder for anomaly detection in machine sounds: MLPerf Tiny's reference model.

Koizumi et al., "ToyADMOS" / DCASE 2020 task 2 baseline: 640 inputs, four layers of 128, a bottleneck of 8, four of 128, 640
outputs; batch norm and ReLU after each but the last.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 640)
WIDTHS = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128)


def network() -> nn.Sequential:
    """Return the ten fully connected layers."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(WIDTHS):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], WIDTHS[0]))


def build() -> ModelDefinition:
    """Return the model with seeded random weights."""
    torch.manual_seed(5)
    calibration = normal_inputs(SHAPE, 64, seed=51)
    tests = normal_inputs(SHAPE, 8, seed=52)
    return ModelDefinition(
        module=settle(network(), calibration),
        example_inputs=tests[0],
        calibration=calibration,
        test_inputs=tests,
        description="anomaly detection, MLPerf Tiny",
    )
