"""int8 transposed convolutions, and the explicit-layout (`_nhwc`) variants of every image operator."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same
from tests.kernels.test_int8_convolution import geometry, spread
from tests.kernels.test_int8_pools import geometry as pool_geometry

SCRATCH = torch.empty(0, dtype=torch.uint8)


def exact(
    image: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, tail: tuple[Any, ...]
) -> torch.Tensor:
    """Return the reference's result; it sums in float32, so the sums here must stay below 2^24."""
    return torch.ops.cortex_m.quantized_transpose_conv2d(
        image, weight, bias, *tail, SCRATCH, SCRATCH
    )


@pytest.mark.parametrize("nhwc", [False, True], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("seed", range(60))
def test_transpose_conv2d(call: Harness, seed: int, *, nhwc: bool) -> None:
    """Any channels, window, padding (multiples of the stride or not) and quantization give the reference's bytes."""
    cases = Cases(seed)
    kernel = [cases.choice([1, 2, 3, 4, 5]) for _ in range(2)]
    stride = [cases.integer(1, 3) for _ in range(2)]
    dilation = [cases.choice([1, 1, 2]) for _ in range(2)]
    padding = [cases.integer(0, d * (k - 1)) for d, k in zip(dilation, kernel, strict=True)]
    extra = [cases.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    depth, outputs = cases.integer(1, 8), cases.integer(1, 6)
    image = cases.image(cases.integer(1, 2), depth, cases.integer(3, 6), cases.integer(3, 6))
    weight = cases.int8(outputs, *kernel, depth)
    largest = int(math.sqrt(math.prod(kernel) * depth)) * 128 * 64
    multipliers, shifts = cases.requantizations(outputs, largest)
    bias = cases.choice([None, torch.randint(-9999, 9999, (outputs,)).to(torch.int32)])
    offsets = (-cases.zero_point(), cases.zero_point())
    tail = (stride, padding, extra, dilation, *offsets, multipliers, shifts, *cases.bounds())
    expected = exact(image, weight, bias, tail)
    name = "cortex_m::quantized_transpose_conv2d"
    if nhwc:
        image = image.permute(0, 2, 3, 1).contiguous()
        expected = expected.permute(0, 2, 3, 1).contiguous()
        name += "_nhwc"

    actual = call(
        f"{name}.out",
        *(Planned(image), weight, bias, *tail, Planned(SCRATCH), Planned(SCRATCH)),
        *(Out(expected), Same()),
    )

    assert torch.equal(expected, actual)


def test_g06_padding_that_is_no_multiple_of_the_stride(call: Harness) -> None:
    """Field case G06: ConvTranspose2d(8, 4, 4, stride=2, padding=1) of 4x4, which CMSIS-NN got wrong in 59 % of elements."""
    cases = Cases(6)
    image, weight = cases.image(1, 8, 4, 4), cases.int8(4, 4, 4, 8)
    multipliers, shifts = cases.requantizations(4, 11 * 128 * 64)
    tail = ([2, 2], [1, 1], [0, 0], [1, 1], 3, -5, multipliers, shifts, -128, 127)
    expected = exact(image, weight, None, tail)

    actual = call(
        "cortex_m::quantized_transpose_conv2d.out",
        *(Planned(image), weight, None, *tail, Planned(SCRATCH), Planned(SCRATCH)),
        *(Out(expected), Same()),
    )

    assert (1, 4, 8, 8) == tuple(actual.shape)
    assert torch.equal(expected, actual)


def _convolution(cases: Cases, *, depthwise: bool) -> tuple[torch.Tensor, tuple[Any, ...]]:
    kernel, stride, padding, _, size = geometry(cases)
    channels, outputs = cases.integer(1, 6), cases.integer(1, 6)
    outputs = channels * 2 if depthwise else outputs
    image = cases.int8(1, *size, channels)
    weight = (
        cases.int8(1, *kernel, outputs) if depthwise else cases.int8(outputs, *kernel, channels)
    )
    largest = int(math.sqrt(math.prod(kernel) * channels)) * 128 * 64
    scales = cases.requantizations(outputs, largest)
    weight = spread(weight, [1, 1])
    head = (weight, cases.bias(outputs, largest), stride, padding, [1, 1])
    multiplier = (2,) if depthwise else ()
    tail = (-cases.zero_point(), cases.zero_point(), *scales, *cases.bounds(), SCRATCH)
    return image, (*head, *multiplier, *tail)


def _pool(cases: Cases, *, largest: bool) -> tuple[torch.Tensor, tuple[Any, ...]]:
    kernel, stride, padding, size = pool_geometry(cases)
    image = cases.int8(1, *size, cases.integer(1, 5))
    if largest:
        zero_point = cases.zero_point()
        return image, (kernel, stride, padding, [1, 1], False, zero_point, zero_point, -128, 127)
    return image, (kernel, stride, padding, False, 0, 1 << 30, -5, SCRATCH)


NHWC = {
    "quantized_conv2d": lambda c: _convolution(c, depthwise=False),
    "quantized_depthwise_conv2d": lambda c: _convolution(c, depthwise=True),
    "quantized_max_pool2d": lambda c: _pool(c, largest=True),
    "quantized_avg_pool2d": lambda c: _pool(c, largest=False),
}


@pytest.mark.parametrize("operator", NHWC)
@pytest.mark.parametrize("seed", range(15))
def test_nhwc_variants(call: Harness, seed: int, operator: str) -> None:
    """Each gives the bytes of its channels-last twin, with the dimensions named as they lie."""
    image, arguments = NHWC[operator](Cases(seed))
    nchw = image.permute(0, 3, 1, 2)
    like = getattr(torch.ops.cortex_m, f"{operator}_nhwc")(image, *arguments)
    scratch = tuple(Planned(a) if a is SCRATCH else a for a in arguments)
    twin = like.permute(0, 3, 1, 2)
    expected = call(f"cortex_m::{operator}.out", Planned(nchw), *scratch, Out(twin), Same())

    actual = call(f"cortex_m::{operator}_nhwc.out", Planned(image), *scratch, Out(like), Same())

    assert torch.equal(expected.permute(0, 2, 3, 1), actual)
    if "avg" not in operator:
        assert torch.equal(like, actual)


def test_nhwc_refuses_other_ranks_and_layouts(call: Harness) -> None:
    """The variants take row-major tensors of rank 4 alone."""
    tail = ([1, 1], [1, 1], [0, 0], [1, 1], False, 0, 0, -128, 127)
    image = torch.zeros(1, 3, 3, 2, dtype=torch.int8)
    name = "cortex_m::quantized_max_pool2d_nhwc.out"

    with pytest.raises(KernelRefusedError, match="argument-shape"):
        call(name, Planned(image[0]), *tail, Out(image), Same())
    other = image.to(memory_format=torch.channels_last)
    with pytest.raises(KernelRefusedError, match="argument-layout"):
        call(name, Planned(other), *tail, Out(image), Same())
