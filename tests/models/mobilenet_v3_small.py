"""MobileNetV3-Small at 96x96, of 10 classes: Howard et al., "Searching for MobileNetV3" (2019), table 2."""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 3, 96, 96)
# Kernel, expanded channels, channels, squeeze-and-excite, hard swish, stride.
BLOCKS = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
    (5, 576, 96, True, True, 1),
)


def rounded(channels: float) -> int:
    """Return channels as a multiple of 8, not below nine tenths of them."""
    whole = max(8, int(channels + 4) // 8 * 8)
    return whole + 8 if whole < 0.9 * channels else whole


def convolution(
    inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1
) -> list[nn.Module]:
    """Return a convolution and its norm."""
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class SqueezeExcite(nn.Module):
    """Each channel scaled by what all of them say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        small = rounded(channels / 4)
        self.scale = nn.Sequential(
            *(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, small, 1), nn.ReLU()),
            *(nn.Conv2d(small, channels, 1), nn.Hardsigmoid()),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the scaled channels."""
        return x * self.scale(x)


class Bottleneck(nn.Module):
    """Expanded, convolved channel by channel, perhaps excited, projected; with a shortcut where the shape stays."""

    def __init__(
        self, inputs: int, kernel: int, wide: int, outputs: int, stride: int, *, se: bool, hs: bool
    ) -> None:
        super().__init__()
        activation = nn.Hardswish if hs else nn.ReLU
        layers = [*convolution(inputs, wide), activation()] if wide != inputs else []
        layers += [*convolution(wide, wide, kernel, stride, wide), activation()]
        layers += [SqueezeExcite(wide)] if se else []
        self.body = nn.Sequential(*layers, *convolution(wide, outputs))
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output."""
        y: torch.Tensor = self.body(x)
        return x + y if self.shortcut else y


def network(classes: int) -> nn.Module:
    """Return the whole network with random weights."""
    channels = 16
    layers: list[nn.Module] = [*convolution(3, channels, 3, 2), nn.Hardswish()]
    for kernel, wide, outputs, se, hs, stride in BLOCKS:
        layers.append(Bottleneck(channels, kernel, wide, outputs, stride, se=se, hs=hs))
        channels = outputs
    layers += [*convolution(channels, 576), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(576, 1024), nn.Hardswish(), nn.Linear(1024, classes))


def build() -> ModelDefinition:
    """Return the network with weights of a fixed seed."""
    torch.manual_seed(0)
    inputs = normal_inputs(SHAPE, 10, 0)
    module = settle(network(10), inputs)
    return ModelDefinition(module, inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:10])
