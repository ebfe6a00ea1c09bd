"""The fixed-point rescaling that every int8 kernel ends with."""

from __future__ import annotations

import pytest
import torch
from executorch.backends.cortex_m.passes.passes_utils import requantize_cmsis

from tests.kernels.harness import Harness, Out

EDGES = [-(2**31), -(2**31) + 1, -(2**30), -3, -2, -1, 0, 1, 2, 3, 2**30, 2**31 - 2, 2**31 - 1]


def values(seed: int) -> torch.Tensor:
    """Return accumulators: the edges, small ones, powers of two and their neighbours, any."""
    generator = torch.Generator().manual_seed(seed)
    powers = 2 ** torch.arange(31)
    near = torch.cat([powers - 1, powers, powers + 1, -powers - 1, -powers, -powers + 1])
    spread = torch.randint(-(2**31), 2**31, (400,), generator=generator)
    shifted = spread >> torch.randint(0, 31, (400,), generator=generator)
    return (
        torch.cat([torch.tensor(EDGES), near, spread, shifted])
        .clamp(-(2**31), 2**31 - 1)
        .to(torch.int32)
    )


@pytest.mark.parametrize("shift", range(-62, 32))
def test_equals_the_reference(call: Harness, shift: int) -> None:
    """Every accumulator gives the reference's 32 bits, for each shift the format allows."""
    generator = torch.Generator().manual_seed(shift + 100)
    accumulators = values(shift + 100)
    drawn = torch.randint(-(2**31) + 1, 2**31, (10,), generator=generator).tolist()
    multipliers = [0, 1, -1, 2**30, -(2**30), 2**31 - 1, -(2**31) + 1, *drawn]
    for multiplier in multipliers:
        like = torch.empty_like(accumulators)
        expected = requantize_cmsis(accumulators, multiplier, shift)

        actual = call(
            "requantize",
            accumulators,
            torch.full_like(accumulators, multiplier),
            torch.full_like(accumulators, shift),
            Out(like),
        )

        assert torch.equal(expected, actual), f"multiplier {multiplier}"
