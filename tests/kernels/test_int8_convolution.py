"""int8 convolutions against ExecuTorch's reference operators, bit for bit."""

from __future__ import annotations

import math

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, Out, Planned, Same

SCRATCH = torch.empty(0, dtype=torch.uint8)


def geometry(cases: Cases) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Return kernel, stride, padding, dilation and an input size that the kernel fits."""
    kernel = [cases.choice([1, 1, 2, 3, 3, 5]) for _ in range(2)]
    dilation = [cases.choice([1, 1, 1, 2, 3]) for _ in range(2)]
    padding = [cases.integer(0, k + 1) for k in kernel]
    stride = [cases.integer(1, 3) for _ in range(2)]
    size = [
        max(1, d * (k - 1) + 1 - 2 * p) + cases.integer(0, 6)
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    return kernel, stride, padding, dilation, size


def spread(weight: torch.Tensor, dilation: list[int]) -> torch.Tensor:
    """Return weights (kernel in dimensions 1 and 2) whose taps stand `dilation` apart, zeros between.

    torch has no dilated convolution of integers on the host; this is the same sum without dilation.
    """
    first, height, width, last = weight.shape
    h, w = dilation
    wide = weight.new_zeros(first, h * (height - 1) + 1, w * (width - 1) + 1, last)
    wide[:, ::h, ::w] = weight
    return wide


@pytest.mark.parametrize("seed", range(60))
def test_conv2d(call: Harness, seed: int) -> None:
    """Any channels, groups, window and quantization give the reference's bytes."""
    cases = Cases(seed)
    kernel, stride, padding, dilation, size = geometry(cases)
    groups = cases.choice([1, 1, 1, 2, 3])
    depth = cases.integer(1, 9)
    outputs = groups * cases.integer(1, 6)
    image = cases.image(cases.integer(1, 2), groups * depth, *size)
    weight = cases.int8(outputs, *kernel, depth)
    largest = int(math.sqrt(math.prod(kernel) * depth)) * 128 * 64
    multipliers, shifts = cases.requantizations(outputs, largest)
    low, high = cases.bounds()
    bias = cases.bias(outputs, largest)
    offsets = (-cases.zero_point(), cases.zero_point())
    tail = (*offsets, multipliers, shifts, low, high)
    expected = torch.ops.cortex_m.quantized_conv2d(
        image, spread(weight, dilation), bias, stride, padding, [1, 1], *tail, SCRATCH
    )

    actual = call(
        "cortex_m::quantized_conv2d.out",
        Planned(image),
        *(weight, bias, stride, padding, dilation),
        *tail,
        Planned(SCRATCH),
        Out(expected),
        Same(),
    )

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(60))
def test_depthwise_conv2d(call: Harness, seed: int) -> None:
    """Any channels, depth multiplier, window and quantization give the reference's bytes."""
    cases = Cases(1000 + seed)
    kernel, stride, padding, dilation, size = geometry(cases)
    channels = cases.choice([1, 1, 2, 3, 7, 16])
    depth_multiplier = cases.choice([1, 1, 2, 5])
    outputs = channels * depth_multiplier
    image = cases.image(cases.integer(1, 2), channels, *size)
    weight = cases.int8(1, *kernel, outputs)
    largest = int(math.sqrt(math.prod(kernel))) * 128 * 64
    multipliers, shifts = cases.requantizations(outputs, largest)
    low, high = cases.bounds()
    bias = cases.bias(outputs, largest)
    offsets = (-cases.zero_point(), cases.zero_point())
    tail = (depth_multiplier, *offsets, multipliers, shifts, low, high)
    expected = torch.ops.cortex_m.quantized_depthwise_conv2d(
        image, spread(weight, dilation), bias, stride, padding, [1, 1], *tail, SCRATCH
    )

    actual = call(
        "cortex_m::quantized_depthwise_conv2d.out",
        Planned(image),
        *(weight, bias, stride, padding, dilation),
        *tail,
        Planned(SCRATCH),
        Out(expected),
        Same(),
    )

    assert torch.equal(expected, actual)
