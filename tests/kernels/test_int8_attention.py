"""int8 softmax and batched products: what attention is made of."""

from __future__ import annotations

import math

import pytest
import torch
from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import _compute_softmax_params

from bench.export.softmax_integers import softmax_integers
from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same

SCRATCH = torch.empty(0, dtype=torch.uint8)


@pytest.mark.parametrize("seed", range(80))
def test_softmax(call: Harness, seed: int) -> None:
    """Bit for bit CMSIS-NN's integers, and at most a step from the exact probabilities; any dimension and layout."""
    cases = Cases(seed)
    shape = [cases.integer(1, 3), cases.integer(1, 9), cases.integer(1, 20), cases.integer(1, 12)]
    shape = shape[: cases.integer(1, 4)]
    values = cases.int8(*shape)
    if len(shape) == 4 and cases.integer(0, 1):
        values = values.to(memory_format=torch.channels_last)
    dim = cases.integer(-len(shape), len(shape) - 1)
    scale = math.exp(cases.random.uniform(-9, 1))
    multiplier, shift, diff_min = _compute_softmax_params(scale)
    arguments = (dim, cases.zero_point(), -128, multiplier, shift, diff_min)
    expected = softmax_integers(values, dim, multiplier, shift, diff_min)

    actual = call("cortex_m::softmax.out", Planned(values), *arguments, Out(expected), Same())

    assert torch.equal(expected, actual)
    exact = torch.softmax((values.double() * scale), dim) * 256 - 128
    assert float((exact.clamp(-128, 127) - actual.double()).abs().max()) < 1.5


def test_softmax_is_the_reference_but_for_ties(call: Harness) -> None:
    """The Python operator, which computes in float, is at most a step away."""
    values = Cases(3).int8(8, 16)
    multiplier, shift, diff_min = _compute_softmax_params(0.02)
    arguments = (-1, 5, -128, multiplier, shift, diff_min)
    reference = torch.ops.cortex_m.softmax(values, *arguments)

    actual = call("cortex_m::softmax.out", Planned(values), *arguments, Out(reference), Same())

    assert int((reference.int() - actual.int()).abs().max()) <= 1


@pytest.mark.parametrize(
    ("position", "value", "code"),
    [
        (1, 2, "argument-value"),
        (3, -127, "argument-value"),
        (4, -5, "argument-value"),
        (5, 32, "argument-value"),
        (6, 1, "argument-value"),
    ],
)
def test_softmax_refuses(call: Harness, position: int, value: int, code: str) -> None:
    """A dimension that is not there, another output quantization, shifts beyond 32 bits."""
    values = torch.zeros(4, 8, dtype=torch.int8)
    arguments = [values, -1, 0, -128, 2**30, 22, -496, Out(values), Same()]
    arguments[position] = value

    with pytest.raises(KernelRefusedError, match=code) as refused:
        call("cortex_m::softmax.out", *arguments)
    assert refused.value.argument == position


@pytest.mark.parametrize("seed", range(40))
def test_batch_matmul(call: Harness, seed: int) -> None:
    """Any sizes and zero points give the reference's bytes."""
    cases = Cases(seed)
    batch, rows, columns = cases.integer(1, 3), cases.integer(1, 6), cases.integer(1, 7)
    depth = cases.integer(1, 70)
    lhs, rhs = cases.int8(batch, rows, depth), cases.int8(batch, columns, depth)
    scale = cases.requantization(int(math.sqrt(depth)) * 128 * 64)
    arguments = (lhs, -cases.zero_point(), rhs, -cases.zero_point(), cases.zero_point(), *scale)
    expected = torch.ops.cortex_m.quantized_batch_matmul(*arguments, SCRATCH)

    actual = call(
        "cortex_m::quantized_batch_matmul.out",
        *(Planned(a) if isinstance(a, torch.Tensor) else a for a in arguments),
        Planned(SCRATCH),
        Out(expected),
        Same(),
    )

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16], ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_div(call: Harness, seed: int, dtype: torch.dtype) -> None:
    """Quotients round as the reference's do, and a divisor of zero gives the zero point."""
    cases = Cases(seed)
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    a, b = (torch.randint(low, high + 1, (3, 40), generator=cases.torch).to(dtype) for _ in "ab")
    b[0, :4] = 7
    other_zero_point = cases.choice([7, 0, -128])
    arguments = (a, cases.zero_point(), b, other_zero_point, cases.zero_point())
    scale = math.exp(cases.random.uniform(-3, 5))
    expected = torch.ops.cortex_m.quantized_div(*arguments, scale)

    actual = call("cortex_m::quantized_div.out", *arguments, scale, Out(expected), Same())

    assert torch.equal(expected, actual)
