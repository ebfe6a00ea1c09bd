"""A depthwise-separable U-Net at 32x32: transposed convolutions upwards, concatenated shortcuts.

Ronneberger et al., "U-Net" (2015), with separable convolutions (Chollet, 2017).
"""

from __future__ import annotations

import torch
from torch import nn

from bench.model import ModelDefinition
from bench.models._synthetic import normal_inputs, settle

SHAPE = (1, 3, 32, 32)


def separable(inputs: int, outputs: int) -> nn.Module:
    """Return a depthwise and a pointwise convolution, each with norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, inputs, 3, padding=1, groups=inputs, bias=False),
        *(nn.BatchNorm2d(inputs), nn.ReLU()),
        nn.Conv2d(inputs, outputs, 1, bias=False),
        *(nn.BatchNorm2d(outputs), nn.ReLU()),
    )


class UNet(nn.Module):
    """Two steps down, two up."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.middle = separable(3, 8), separable(8, 16), separable(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        # Padding that is no multiple of the stride: field case G06.
        self.up1 = nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1)
        self.merge2, self.merge1 = separable(32, 16), separable(16, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return one number a pixel."""
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.middle(self.pool(b))
        b = self.merge2(torch.cat([self.up2(c), b], 1))
        a = self.merge1(torch.cat([self.up1(b), a], 1))
        mask: torch.Tensor = self.out(a)
        return mask


def build() -> ModelDefinition:
    """Return the network with weights of a fixed seed."""
    torch.manual_seed(0)
    inputs = normal_inputs(SHAPE, 10, 0)
    module = settle(UNet(), inputs)
    return ModelDefinition(module, inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:10])
