"""DS-CNN for keyword spotting: MLPerf Tiny's reference model.

Zhang et al., "Hello Edge: Keyword Spotting on Microcontrollers" (2017), DS-CNN-S with the layer sizes of MLPerf Tiny
(Banbury et al., 2021): input 49 frames x 10 MFCC, 64 channels, 12 words.
"""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 1, 49, 10)
CHANNELS = 64


class SeparableConv(nn.Sequential):
    """A depthwise 3x3 and a pointwise convolution, each with batch norm and ReLU."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS, bias=False),
            nn.BatchNorm2d(CHANNELS),
            nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False),
            nn.BatchNorm2d(CHANNELS),
            nn.ReLU(),
        )


class DsCnn(nn.Module):
    """The network; `forward` takes MFCC frames of 1x1x49x10 and returns 12 logits."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, CHANNELS, (10, 4), stride=2, padding=(5, 1), bias=False),
            nn.BatchNorm2d(CHANNELS),
            nn.ReLU(),
            nn.Dropout(0.2),
        )
        self.blocks = nn.Sequential(*(SeparableConv() for _ in range(4)), nn.Dropout(0.4))
        self.pool = nn.AvgPool2d((24, 5))
        self.classifier = nn.Linear(CHANNELS, 12)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        features = self.blocks(self.stem(frames))
        logits: torch.Tensor = self.classifier(torch.flatten(self.pool(features), 1))
        return logits


def build() -> ModelDefinition:
    """Return the model with seeded random weights."""
    torch.manual_seed(2)
    calibration = normal_inputs(SHAPE, 32, seed=21)
    tests = normal_inputs(SHAPE, 8, seed=22)
    return ModelDefinition(
        module=settle(DsCnn(), calibration),
        example_inputs=tests[0],
        calibration=calibration,
        test_inputs=tests,
        classes=12,
        description="keyword spotting, MLPerf Tiny",
    )
