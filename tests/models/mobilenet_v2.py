"""MobileNetV2 at 96x96, of 10 classes: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), table 2."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 3, 96, 96)
# Expansion, channels, repetitions, stride of the first.
BLOCKS = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)


def convolution(
    inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1
) -> list[nn.Module]:
    """Return a convolution and its norm."""
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class Bottleneck(nn.Module):
    """Expanded, convolved channel by channel, projected; beside a shortcut where the shape stays."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        layers = [*convolution(inputs, wide), nn.ReLU6()] if expansion != 1 else []
        layers += [*convolution(wide, wide, 3, stride, wide), nn.ReLU6()]
        self.body = nn.Sequential(*layers, *convolution(wide, outputs))
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output."""
        y: torch.Tensor = self.body(x)
        return x + y if self.shortcut else y


def network(classes: int) -> nn.Module:
    """Return the whole network with random weights."""
    channels = 32
    layers: list[nn.Module] = [*convolution(3, channels, 3, 2), nn.ReLU6()]
    for expansion, outputs, count, stride in BLOCKS:
        for i in range(count):
            layers.append(Bottleneck(channels, outputs, stride if i == 0 else 1, expansion))
            channels = outputs
    layers += [*convolution(channels, 1280), nn.ReLU6()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, classes))


def build() -> ModelDefinition:
    """Return the network with weights of a fixed seed."""
    torch.manual_seed(0)
    inputs = normal_inputs(SHAPE, 10, 0)
    module = settle(network(10), inputs)
    return ModelDefinition(module, inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:10])
