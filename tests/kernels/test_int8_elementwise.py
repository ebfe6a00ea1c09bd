"""int8 elementwise kernels, and the ways into and out of int8, bit for bit."""

from __future__ import annotations

import math

import pytest
import torch

from tests.kernels.cases import HIGH, LOW, Cases
from tests.kernels.harness import Harness, Out, Same

INT8 = 1  # torch.int8 as the program has it


def operands(cases: Cases) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two operands: of one shape and layout, or one of them a value a channel."""
    channels = cases.integer(1, 6)
    shape = (cases.integer(1, 2), channels, cases.integer(1, 4), cases.integer(1, 4))
    kind = cases.choice(["flat", "image", "self", "other"])
    if kind == "flat":
        return cases.int8(*shape[:2]), cases.int8(*shape[:2])
    if kind == "image":
        return cases.image(*shape), cases.image(*shape)
    pair = cases.image(*shape), cases.image(1, channels, 1, 1)
    return pair if kind == "other" else (pair[1], pair[0])


def scale_shifts(cases: Cases) -> tuple[int, int]:
    """Return multiplier and shift of an operand of an addition: a scale of at most 1, or anything."""
    if cases.integer(0, 9) == 0:
        return cases.requantization(1 << 28)
    return cases.integer(2**30, 2**31 - 1), cases.integer(-8, 0)


@pytest.mark.parametrize("seed", range(60))
def test_add(call: Harness, seed: int) -> None:
    """Sums of any scales and zero points, also with a value a channel, are the reference's."""
    cases = Cases(seed)
    a, b = operands(cases)
    out_scale = (cases.integer(2**30, 2**31 - 1), cases.integer(-24, -16))
    arguments = (
        *(a, cases.zero_point(), *scale_shifts(cases)),
        *(b, cases.zero_point(), *scale_shifts(cases)),
        *(cases.zero_point(), *out_scale),
        *cases.bounds(),
    )
    expected = torch.ops.cortex_m.quantized_add(*arguments)

    actual = call("cortex_m::quantized_add.out", *arguments, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(60))
def test_mul(call: Harness, seed: int) -> None:
    """Products of any scales and zero points, also with a value a channel, are the reference's."""
    cases = Cases(seed)
    a, b = operands(cases)
    arguments = (
        *(a, cases.zero_point(), b, cases.choice([cases.zero_point(), -486, 700])),
        *(cases.zero_point(), *cases.requantization(1 << 14)),
    )
    expected = torch.ops.cortex_m.quantized_mul(*arguments)

    actual = call("cortex_m::quantized_mul.out", *arguments, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("name", ["minimum", "maximum"])
@pytest.mark.parametrize("seed", range(20))
def test_minimum_and_maximum(call: Harness, seed: int, name: str) -> None:
    """Operands broadcast as torch's do, a single value included."""
    cases = Cases(seed)
    a = cases.choice([cases.int8(2, 3, 4), cases.image(1, 3, 4, 2), cases.int8(1, 1, 4)])
    b = cases.choice(
        [cases.int8(1), cases.int8(*a.shape), cases.int8(a.shape[-1]), cases.int8(*a.shape[:-1], 1)]
    )
    expected = getattr(torch.ops.cortex_m, name)(a, b)

    actual = call(f"cortex_m::{name}.out", a, b, Out(expected), Same())

    assert torch.equal(expected, actual)


def test_activation(call: Harness) -> None:
    """Each of the 256 values finds its own entry of the table."""
    cases = Cases(1)
    values = torch.arange(LOW, HIGH + 1).to(torch.int8).reshape(1, 4, 8, 8)
    values = values.to(memory_format=torch.channels_last)
    table = cases.int8(256)
    expected = torch.ops.cortex_m.quantized_activation(values, table)

    actual = call("cortex_m::quantized_activation.out", values, table, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(40))
def test_quantize(call: Harness, seed: int) -> None:
    """Floats of all sizes, ties, infinities and NaN round as the reference's do."""
    cases = Cases(seed)
    scale = math.exp(cases.random.uniform(-12, 3))
    zero_point = cases.zero_point()
    inverse = torch.tensor(1.0 / scale, dtype=torch.float32)
    steps = torch.arange(-300, 300, dtype=torch.float32) / 2  # every other one is a tie, or near it
    values = torch.cat(
        [
            steps / inverse,
            torch.nextafter(steps / inverse, torch.tensor(torch.inf)),
            cases.floats(300) * scale * 100,
            torch.tensor([0.0, -0.0, 1e-45, 3.4e38, -3.4e38, torch.inf, -torch.inf, torch.nan]),
        ]
    )
    low, high = cases.choice([(-128, 127), (-127, 127), (0, 127)])
    arguments = (values, scale, zero_point, low, high)
    expected = torch.ops.cortex_m.quantize_per_tensor(*arguments, torch.int8)

    actual = call("cortex_m::quantize_per_tensor.out", *arguments, INT8, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 0.25])
def test_quantize_rounds_ties_to_even(call: Harness, scale: float) -> None:
    """With a scale that is a power of two every second value is an exact tie."""
    values = torch.arange(-300, 300, dtype=torch.float32) * scale / 2
    expected = torch.ops.cortex_m.quantize_per_tensor(values, scale, 3, -128, 127, torch.int8)

    actual = call(
        "cortex_m::quantize_per_tensor.out",
        values,
        scale,
        3,
        -128,
        127,
        INT8,
        Out(expected),
        Same(),
    )

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(10))
def test_dequantize(call: Harness, seed: int) -> None:
    """Every value gives the reference's float, bit for bit."""
    cases = Cases(seed)
    values = torch.arange(LOW, HIGH + 1).to(torch.int8)
    arguments = (values, math.exp(cases.random.uniform(-12, 3)), cases.zero_point(), LOW, HIGH)
    expected = torch.ops.cortex_m.dequantize_per_tensor(*arguments, torch.int8)

    actual = call("cortex_m::dequantize_per_tensor.out", *arguments, INT8, Out(expected), Same())

    assert torch.equal(expected.view(torch.int32), actual.view(torch.int32))
