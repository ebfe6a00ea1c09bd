"""Weights and data for models whose data set is not at hand: seeded, plausible, not learned."""

from __future__ import annotations

import torch
from torch import nn


def images_last(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor with channels last in memory, one channel included; other ranks as they are."""
    if tensor.dim() != 4:
        return tensor
    n, c, h, w = tensor.shape
    out = torch.empty_strided((n, c, h, w), (h * w * c, 1, w * c, c), dtype=tensor.dtype)
    return out.copy_(tensor)


def normal_inputs(
    shape: tuple[int, ...], count: int, seed: int
) -> tuple[tuple[torch.Tensor, ...], ...]:
    """Return `count` one-tensor inputs of standard normal numbers."""
    generator = torch.Generator().manual_seed(seed)
    return tuple((images_last(torch.randn(shape, generator=generator)),) for _ in range(count))


def settle(module: nn.Module, inputs: tuple[tuple[torch.Tensor, ...], ...]) -> nn.Module:
    """Give each batch norm the statistics of random inputs and a random affine map, then freeze it.

    Fresh batch norms (mean 0, variance 1) would let activations shrink layer by layer until the outputs
    hardly depend on the input.
    """
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            layer.momentum = None  # cumulative average: the statistics of all batches alike
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias, std=0.2)
    module.train()
    with torch.no_grad():
        module(*(torch.cat(column) for column in zip(*inputs, strict=True)))
    return module.eval()
