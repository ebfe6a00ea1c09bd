"""ResNet-8 for CIFAR-10: MLPerf Tiny's reference model for image classification.

He et al., "Deep Residual Learning for Image Recognition" (2015), with three stages of 16, 32 and 64 channels as in MLPerf
Tiny (Banbury et al., 2021).
"""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 3, 32, 32)


class Residual(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is a 1x1 convolution where the size changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the activated sum of body and shortcut."""
        total: torch.Tensor = self.relu(self.body(x) + self.shortcut(x))
        return total


class ResNet8(nn.Module):
    """The network; `forward` takes images of 1x3x32x32 and returns 10 logits."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()
        )
        self.stages = nn.Sequential(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        features = self.stages(self.stem(images))
        logits: torch.Tensor = self.classifier(torch.flatten(self.pool(features), 1))
        return logits


def build() -> ModelDefinition:
    """Return the model with seeded random weights."""
    torch.manual_seed(3)
    calibration = normal_inputs(SHAPE, 16, seed=31)
    tests = normal_inputs(SHAPE, 8, seed=32)
    return ModelDefinition(
        module=settle(ResNet8(), calibration),
        example_inputs=tests[0],
        calibration=calibration,
        test_inputs=tests,
        classes=10,
        description="image classification, MLPerf Tiny",
    )
