"""int8 pools: the largest element against the reference operator, the mean against integers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, Out, Planned, Same

SCRATCH = torch.empty(0, dtype=torch.uint8)


def geometry(cases: Cases) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return kernel, stride, padding and an input size that the kernel fits."""
    kernel = [cases.integer(1, 5) for _ in range(2)]
    stride = [cases.integer(1, 4) for _ in range(2)]
    padding = [cases.integer(0, k // 2) for k in kernel]
    size = [max(1, k - 2 * p) + cases.integer(0, 7) for k, p in zip(kernel, padding, strict=True)]
    return kernel, stride, padding, size


def integer_mean(
    image: torch.Tensor,
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    *,
    ceil_mode: bool,
) -> torch.Tensor:
    """Return what CMSIS-NN's arm_avgpool_s8 computes, from sums and counts that float64 holds exactly."""
    double = image.to(torch.float64)
    options = (kernel, stride, padding, ceil_mode)
    area = kernel[0] * kernel[1]
    sums = F.avg_pool2d(double, *options, divisor_override=1).round().to(torch.int64)
    ones = torch.ones_like(double)
    counts = F.avg_pool2d(ones, *options, divisor_override=1).round().to(torch.int64)
    assert int(counts.min()) >= 1
    assert int(counts.max()) <= area
    half = counts // 2
    rounded = torch.where(sums > 0, sums + half, sums - half)
    means = torch.div(rounded, counts, rounding_mode="trunc").clamp(-128, 127)
    return means.to(torch.int8).contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("seed", range(60))
def test_avg_pool2d(call: Harness, seed: int) -> None:
    """The mean is CMSIS-NN's, padding does not count, ties go away from zero."""
    cases = Cases(seed)
    kernel, stride, padding, size = geometry(cases)
    image = cases.image(cases.integer(1, 2), cases.integer(1, 5), *size)
    ceil_mode = cases.choice([False, False, True])
    expected = integer_mean(image, kernel, stride, padding, ceil_mode=ceil_mode)

    actual = call(
        "cortex_m::quantized_avg_pool2d.out",
        Planned(image),
        *(kernel, stride, padding, ceil_mode),
        *(cases.zero_point(), 1185148416, -5),
        Planned(SCRATCH),
        Out(expected),
        Same(),
    )

    assert torch.equal(expected, actual)


def test_avg_pool2d_is_the_reference_but_for_ties(call: Harness) -> None:
    """On real-looking data the Python operator, which rounds floats, is at most a step away."""
    cases = Cases(7)
    image = cases.image(1, 16, 8, 8)
    arguments = ([8, 8], [8, 8], [0, 0], False, -128, 1185148416, -5)
    reference = torch.ops.cortex_m.quantized_avg_pool2d(image, *arguments, SCRATCH)

    actual = call(
        "cortex_m::quantized_avg_pool2d.out",
        *(Planned(image), *arguments, Planned(SCRATCH), Out(reference), Same()),
    )

    assert int((reference.int() - actual.int()).abs().max()) <= 1


@pytest.mark.parametrize("seed", range(60))
def test_max_pool2d(call: Harness, seed: int) -> None:
    """Any window and bounds give the reference's bytes."""
    cases = Cases(2000 + seed)
    kernel, stride, padding, size = geometry(cases)
    image = cases.image(cases.integer(1, 2), cases.integer(1, 5), *size)
    zero_point = cases.zero_point()
    arguments = (kernel, stride, padding, [1, 1], False, zero_point, zero_point, *cases.bounds())
    expected = torch.ops.cortex_m.quantized_max_pool2d(image, *arguments)

    actual = call(
        "cortex_m::quantized_max_pool2d.out", Planned(image), *arguments, Out(expected), Same()
    )

    assert torch.equal(expected, actual)
