"""An encoder block of a small transformer: attention, LayerNorm, GELU; 16 tokens of 32 numbers, two heads.

Vaswani et al., "Attention Is All You Need" (2017), with the norms in front (Xiong et al., 2020).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812  torch's own name
from torch import nn

from bench.model import ModelDefinition

TOKENS, WIDTH, HEADS, HIDDEN = 16, 32, 2, 64


class Attention(nn.Module):
    """Self-attention of one batch, written out over rank 3 or by torch's own function."""

    def __init__(self, *, written_out: bool) -> None:
        super().__init__()
        self.written_out = written_out
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        # Without a bias the product stays in a form that the quantizer knows.
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what each token gathers from all others."""
        size = WIDTH // HEADS
        if self.written_out:
            q, k, v = (
                part(x).reshape(TOKENS, HEADS, size).transpose(0, 1)
                for part in (self.query, self.key, self.value)
            )
            weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1)
            gathered = torch.bmm(weights, v).transpose(0, 1).reshape(1, TOKENS, WIDTH)
        else:
            q, k, v = (
                part(x).reshape(1, TOKENS, HEADS, size).transpose(1, 2)
                for part in (self.query, self.key, self.value)
            )
            gathered = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
            gathered = gathered.reshape(1, TOKENS, WIDTH)
        out: torch.Tensor = self.out(gathered)
        return out


class Block(nn.Module):
    """Attention and two layers, each behind a norm and beside a shortcut."""

    def __init__(self, *, written_out: bool) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention(written_out=written_out)
        self.layers = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output, of the input's shape."""
        x = x + self.attention(self.norm1(x))
        return x + self.layers(self.norm2(x))


def definition(*, written_out: bool) -> ModelDefinition:
    """Return the block with weights of a fixed seed."""
    torch.manual_seed(0)
    block = Block(written_out=written_out).eval()
    if written_out:
        # Where torch's function divides the product, the query's weights are smaller.
        for parameter in block.attention.query.parameters():
            parameter.data /= math.sqrt(WIDTH // HEADS)
    inputs = [(torch.randn(1, TOKENS, WIDTH),) for _ in range(16)]
    return ModelDefinition(block, inputs[0], calibration=inputs[1:9], test_inputs=inputs[9:11])


def build() -> ModelDefinition:
    """Return the block with attention written out."""
    return definition(written_out=True)


def build_sdpa() -> ModelDefinition:
    """Return the same with scaled_dot_product_attention."""
    return definition(written_out=False)
