"""int8 fully connected layers against ExecuTorch's reference operator, bit for bit."""

from __future__ import annotations

import math

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, Out, Planned, Same


@pytest.mark.parametrize("summed", [False, True], ids=["bias", "kernel_sum"])
@pytest.mark.parametrize("seed", range(40))
def test_linear(call: Harness, seed: int, *, summed: bool) -> None:
    """Programs with a bias (DSP, scalar) and with kernel sums (Helium) give the reference's bytes."""
    cases = Cases(seed)
    depth, outputs = cases.integer(1, 70), cases.integer(1, 20)
    shape = cases.choice([(1,), (3,), (2, 3)])
    rows = cases.int8(*shape, depth)
    weight = cases.int8(outputs, depth)
    largest = int(math.sqrt(depth)) * 128 * 64
    bias = cases.bias(outputs, largest)
    kernel_sum = None
    if summed:
        kernel_sum, bias = cases.bias(outputs, largest), None
        kernel_sum = None if kernel_sum is None else kernel_sum.unsqueeze(0)
    # The exporter's filter offset is 0: weights are symmetric. Others are arithmetic all the same.
    filter_offset = cases.choice([0, 0, 0, 1, -127, 128])
    multiplier, shift = cases.requantization(largest)
    low, high = cases.bounds()
    tail = (
        *(weight, bias, kernel_sum),
        *(-cases.zero_point(), filter_offset, cases.zero_point()),
        *([multiplier], [shift], high, low),
    )
    expected = torch.ops.cortex_m.quantized_linear(rows, *tail)

    actual = call("cortex_m::quantized_linear.out", Planned(rows), *tail, Out(expected), Same())

    assert torch.equal(expected, actual)
