"""MobileNetV1 at width 0.25 for person detection: MLPerf Tiny's reference model for visual wake words.

Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications" (2017), table 1 with a
width multiplier of 0.25 at 96x96 and two classes, as in MLPerf Tiny (Banbury et al., 2021).
"""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 3, 96, 96)
# (output channels at width 0.25, stride) of the thirteen separable layers of table 1.
LAYERS = (
    *((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)),
    *((128, 1),) * 5,
    *((256, 2), (256, 1)),
)


class SeparableConv(nn.Sequential):
    """A depthwise 3x3 and a pointwise convolution, each with batch norm and ReLU."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, inputs, 3, stride=stride, padding=1, groups=inputs, bias=False),
            nn.BatchNorm2d(inputs),
            nn.ReLU(),
            nn.Conv2d(inputs, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        )


class MobileNetV1(nn.Module):
    """The network; `forward` takes images of 1x3x96x96 and returns 2 logits."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU()
        )
        inputs = (8, *(outputs for outputs, _ in LAYERS))
        self.blocks = nn.Sequential(
            *(SeparableConv(i, o, s) for i, (o, s) in zip(inputs, LAYERS, strict=False))
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(inputs[-1], 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        features = self.blocks(self.stem(images))
        logits: torch.Tensor = self.classifier(torch.flatten(self.pool(features), 1))
        return logits


def build() -> ModelDefinition:
    """Return the model with seeded random weights."""
    torch.manual_seed(4)
    calibration = normal_inputs(SHAPE, 8, seed=41)
    tests = normal_inputs(SHAPE, 4, seed=42)
    return ModelDefinition(
        module=settle(MobileNetV1(), calibration),
        example_inputs=tests[0],
        calibration=calibration,
        test_inputs=tests,
        classes=2,
        description="visual wake words, MLPerf Tiny",
    )
