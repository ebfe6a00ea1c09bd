"""Random arguments for kernels: seeded, and never far from the edges."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot

LOW, HIGH = -128, 127


class Cases:
    """A seeded source of arguments."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def integer(self, low: int, high: int) -> int:
        """Return low..high, both included."""
        return self.random.randint(low, high)

    def choice(self, options: list[Any]) -> Any:
        """Return one of them."""
        return self.random.choice(options)

    def int8(self, *shape: int) -> torch.Tensor:
        """Return int8 of the whole range; now and then of its two ends alone."""
        if self.random.random() < 0.2:
            ends = torch.randint(0, 2, shape, generator=self.torch)
            return (ends * 255 - 128).to(torch.int8)
        return torch.randint(LOW, HIGH + 1, shape, generator=self.torch).to(torch.int8)

    def image(self, *shape: int) -> torch.Tensor:
        """Return an int8 image, channels last."""
        return self.int8(*shape).to(memory_format=torch.channels_last)

    def floats(self, *shape: int) -> torch.Tensor:
        """Return normal float32 numbers."""
        return torch.randn(shape, generator=self.torch)

    def zero_point(self) -> int:
        """Return a zero point, often at an end."""
        return self.choice([LOW, HIGH, 0, self.integer(LOW, HIGH)])

    def bounds(self) -> tuple[int, int]:
        """Return activation bounds, mostly the whole range."""
        if self.random.random() < 0.5:
            return LOW, HIGH
        low, high = sorted((self.integer(LOW, HIGH), self.integer(LOW, HIGH)))
        return low, high

    def requantization(self, largest: int) -> tuple[int, int]:
        """Return multiplier and shift that bring accumulators of that size near the int8 range.

        One in six is anything that the format allows, the negative multipliers of folded factors included.
        """
        if self.random.random() < 1 / 6:
            multiplier = self.choice(
                [2**31 - 1, 2**30, -(2**30), 0, 1, self.integer(-(2**31) + 1, 2**31 - 1)]
            )
            return multiplier, self.choice(
                [-62, -33, -32, -31, -30, -1, 0, 1, 8, 31, self.integer(-40, 31)]
            )
        scale = 128 / max(largest, 1) * math.exp(self.random.uniform(-2, 2))
        return quantize_multiplier_aot(scale)

    def requantizations(self, count: int, largest: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return one multiplier and shift a channel."""
        pairs = [self.requantization(largest) for _ in range(count)]
        multipliers, shifts = zip(*pairs, strict=True)
        return (
            torch.tensor(multipliers, dtype=torch.int64).to(torch.int32),
            torch.tensor(shifts, dtype=torch.int32),
        )

    def bias(self, count: int, largest: int) -> torch.Tensor | None:
        """Return a bias or None; now and then so large that sums wrap."""
        kind = self.random.random()
        if kind < 0.3:
            return None
        bound = 2**31 - 1 if kind < 0.4 else max(largest, 1)
        return torch.randint(-bound, bound, (count,), generator=self.torch).to(torch.int32)
