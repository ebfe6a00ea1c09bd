"""Portable elementwise kernels against torch's operators of the same name.

Arithmetic is exact. Functions of the C library are compared within 4 units in the last place of the result or
2^-22 absolutely: two libraries' `expf` may differ by one such unit, and formulas like sigmoid's have three steps.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same

LAYOUTS = [torch.contiguous_format, torch.channels_last]
RELATIVE, ABSOLUTE = 2.0**-21, 2.0**-22
EDGES = torch.tensor(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 1e-30, 88.0, -88.0, 1e4, -1e4]
)
SPECIAL = torch.tensor([torch.inf, -torch.inf, torch.nan])
NUMBERS = [torch.float32, torch.int32, torch.int64]
TYPES = [*NUMBERS, torch.int8, torch.bool]


def image(cases: Cases, *shape: int) -> torch.Tensor:
    """Return normal numbers in either layout."""
    return cases.floats(*shape).to(memory_format=cases.choice(LAYOUTS))


def numbers(cases: Cases, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Return numbers of a type, few enough that there are equal ones."""
    if dtype == torch.float32:
        return (cases.floats(*shape) * 4).round() / 2
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=cases.torch).to(torch.bool)
    return torch.randint(-5, 6, shape, generator=cases.torch).to(dtype)


def assert_close(expected: torch.Tensor, actual: torch.Tensor) -> None:
    """Compare within the tolerances above; NaN and infinities must be the same."""
    torch.testing.assert_close(actual, expected, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)


UNARY = [
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "ceil",
        "cos",
        "cosh",
        "erf",
        "exp",
        "expm1",
    ),
    *(
        "floor",
        "log",
        "log10",
        "log1p",
        "log2",
        "reciprocal",
        "round",
        "rsqrt",
        "sigmoid",
        "sin",
        "sinh",
    ),
    *("sqrt", "tan", "tanh", "trunc", "abs", "neg", "sign"),
]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(call: Harness, name: str) -> None:
    """Each of either layout, on normal numbers, edges, infinities and NaN."""
    cases = Cases(5)
    function = getattr(torch.ops.aten, name)
    edges = EDGES if name in {"sin", "cos", "tan"} else torch.cat([EDGES, SPECIAL])
    for values in (image(cases, 2, 3, 4, 5) * 2, cases.floats(7).abs(), edges, torch.tensor(0.7)):
        expected = function(values.double()).float()
        like = torch.empty_like(expected)

        actual = call(f"aten::{name}.out", Planned(values), Out(like), Same())

        assert_close(expected, actual)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("name", ["abs", "neg", "sign"])
def test_integers_of_one(call: Harness, name: str, dtype: torch.dtype) -> None:
    """Integers too, the lowest one included."""
    values = torch.tensor(
        [0, 1, -1, 7, -7, torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype
    )
    expected = getattr(torch.ops.aten, name)(values)

    assert torch.equal(expected, call(f"aten::{name}.out", values, Out(expected), Same()))


PARAMETRIC: dict[str, list[tuple[Any, ...]]] = {
    "leaky_relu": [(0.01,), (0.3,), (-0.5,), (2,)],
    "elu": [(1.0, 1, 1), (1.6732632423543772, 1.0507009873554805, 1), (0.5, 1.0, 0.25)],
}


@pytest.mark.parametrize("name", PARAMETRIC)
def test_functions_with_parameters(call: Harness, name: str) -> None:
    """Slopes and scales are taken as the program has them, integers too."""
    cases = Cases(6)
    for parameters in PARAMETRIC[name]:
        for values in (image(cases, 1, 3, 4, 5) * 3, torch.cat([EDGES, SPECIAL])):
            expected = getattr(torch.ops.aten, name)(values.double(), *parameters).float()

            actual = call(f"aten::{name}.out", Planned(values), *parameters, Out(values), Same())

            assert_close(expected, actual)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(call: Harness, approximate: str) -> None:
    """Exact and approximate, to the ends of both tails."""
    values = torch.cat([Cases(1).floats(300) * 3, EDGES, torch.tensor([torch.nan])])
    expected = torch.ops.aten.gelu(values, approximate=approximate)

    actual = call("aten::gelu.out", Planned(values), approximate, Out(values), Same())

    torch.testing.assert_close(actual, expected, rtol=2e-5, atol=2e-6, equal_nan=True)


def operands(cases: Cases, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return two operands that broadcast, in mixed layouts, and an output to be written."""
    shape = [cases.integer(1, 3), cases.integer(1, 4), cases.integer(1, 5), cases.integer(1, 5)]
    a = numbers(cases, dtype, *shape).to(memory_format=cases.choice(LAYOUTS))
    b = cases.choice(
        [
            numbers(cases, dtype, *shape).to(memory_format=cases.choice(LAYOUTS)),
            numbers(cases, dtype, shape[1], 1, 1),
            numbers(cases, dtype, 1, shape[1], 1, 1),
            numbers(cases, dtype),
            numbers(cases, dtype, shape[3]),
        ]
    )
    a, b = cases.choice([(a, b), (b, a)])
    like = torch.empty(torch.broadcast_shapes(a.shape, b.shape))
    return a, b, like.to(memory_format=cases.choice(LAYOUTS))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("seed", range(15))
def test_arithmetic_of_two(call: Harness, seed: int, dtype: torch.dtype) -> None:
    """Sums, differences, products and extremes are exact, broadcast, with a factor, for each type."""
    cases = Cases(seed)
    a, b, like = operands(cases, dtype)
    out = (Out(like.to(dtype)), Same())
    alpha = cases.choice([1, 2, -3])

    assert torch.equal(a + alpha * b, call("aten::add.out", a, b, alpha, *out))
    assert torch.equal(a - alpha * b, call("aten::sub.out", a, b, alpha, *out))
    assert torch.equal(a * b, call("aten::mul.out", a, b, *out))
    assert torch.equal(torch.maximum(a, b), call("aten::maximum.out", a, b, *out))
    assert torch.equal(torch.minimum(a, b), call("aten::minimum.out", a, b, *out))
    divisor = torch.where(b == 0, torch.ones_like(b), b)
    assert torch.equal(torch.fmod(a, divisor), call("aten::fmod.Tensor_out", a, divisor, *out))
    assert torch.equal(
        torch.remainder(a, divisor), call("aten::remainder.Tensor_out", a, divisor, *out)
    )


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_arithmetic_with_numbers(call: Harness, dtype: torch.dtype) -> None:
    """A number stands in for the second operand."""
    cases = Cases(8)
    a = numbers(cases, dtype, 2, 3, 4, 5)
    out = (Out(a), Same())
    number = 2.5 if dtype == torch.float32 else 3

    assert torch.equal(a + 2 * number, call("aten::add.Scalar_out", a, number, 2, *out))
    assert torch.equal(a - number, call("aten::sub.Scalar_out", a, number, 1, *out))
    assert torch.equal(number - 2 * a, call("aten::rsub.Scalar_out", a, number, 2, *out))
    assert torch.equal(a * number, call("aten::mul.Scalar_out", a, number, *out))
    assert torch.equal(torch.fmod(a, number), call("aten::fmod.Scalar_out", a, number, *out))
    assert torch.equal(
        torch.remainder(a, -number), call("aten::remainder.Scalar_out", a, -number, *out)
    )


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_division(call: Harness, mode: str | None) -> None:
    """Quotients of tensors and numbers, rounded as the mode says; by zero too."""
    cases = Cases(9)
    a, b = (cases.floats(4, 30) * 10 for _ in "ab")
    a[0, :3] = torch.tensor([0.0, 1.0, -1.0])
    b[0, :3] = 0.0
    a[1] = torch.round(a[1])
    b[1] = torch.where(torch.round(b[1]) == 0, torch.ones(30), torch.round(b[1]))
    out = (Out(a), Same())
    expected = torch.div(a, b, rounding_mode=mode)

    actual = call("aten::div.out_mode", a, b, mode, *out)

    assert torch.allclose(expected, actual, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(
        torch.div(a, 3, rounding_mode=mode), call("aten::div.Scalar_mode_out", a, 3, mode, *out)
    )
    if mode is None:
        assert torch.allclose(expected, call("aten::div.out", a, b, *out), 0, 0, equal_nan=True)
        assert torch.equal(a / 3, call("aten::div.Scalar_out", a, 3, *out))


def test_powers(call: Harness) -> None:
    """Of tensors by tensors and numbers, and of numbers by tensors."""
    cases = Cases(10)
    a, b = cases.floats(3, 40), cases.floats(40)
    out = (Out(a), Same())

    assert_close(torch.pow(a.abs(), b), call("aten::pow.Tensor_Tensor_out", a.abs(), b, *out))
    assert_close(torch.atan2(a, b), call("aten::atan2.out", a, b, *out))
    for exponent in (2, 0.5, 3, -1.5):
        base = a if exponent in {2, 3} else a.abs()
        expected = torch.pow(base, exponent)
        assert_close(expected, call("aten::pow.Tensor_Scalar_out", base, exponent, *out))
    assert_close(torch.pow(2, a), call("aten::pow.Scalar_out", 2, a, *out))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(call: Harness, name: str, dtype: torch.dtype) -> None:
    """Of tensors, broadcast, and with integers and fractions; NaN is unequal to everything."""
    compare = getattr(torch.ops.aten, name)
    for seed in range(4):
        cases = Cases(seed)
        a, b, like = operands(cases, dtype)
        if dtype == torch.float32:
            a = torch.where(a == 2, torch.tensor(torch.nan), a)
        expected = compare(a, b)
        out = (Out(like.to(torch.bool)), Same())
        assert torch.equal(expected, call(f"aten::{name}.Tensor_out", a, b, *out))
        for number in (0, 1, 0.5, -torch.inf):
            like_a = Out(torch.empty_like(a, dtype=torch.bool))
            actual = call(f"aten::{name}.Scalar_out", a, number, like_a, Same())
            assert torch.equal(compare(a, number), actual)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(call: Harness, name: str, dtype: torch.dtype) -> None:
    """Anything but zero is true."""
    a, b, like = operands(Cases(11), dtype)
    expected = getattr(torch.ops.aten, name)(a, b)

    assert torch.equal(expected, call(f"aten::{name}.out", a, b, Out(like.bool()), Same()))
    expected = torch.logical_not(a)
    assert torch.equal(expected, call("aten::logical_not.out", a, Out(expected), Same()))


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(call: Harness, name: str, dtype: torch.dtype) -> None:
    """Of integers and bool, broadcast, and with a number."""
    a, b, like = operands(Cases(12), dtype)
    function = getattr(torch.ops.aten, name)
    expected = function(a, b)

    assert torch.equal(
        expected, call(f"aten::{name}.Tensor_out", a, b, Out(like.to(dtype)), Same())
    )
    expected = torch.bitwise_not(a)
    assert torch.equal(expected, call("aten::bitwise_not.out", a, Out(expected), Same()))
    if dtype != torch.bool:
        expected = function(a, 6)
        assert torch.equal(expected, call(f"aten::{name}.Scalar_out", a, 6, Out(expected), Same()))


@pytest.mark.parametrize("name", ["isinf", "isnan"])
def test_classes(call: Harness, name: str) -> None:
    """Infinities and NaN are told from numbers."""
    values = torch.cat([EDGES, SPECIAL])
    expected = getattr(torch, name)(values)

    assert torch.equal(expected, call(f"aten::{name}.out", values, Out(expected), Same()))


@pytest.mark.parametrize("dtype", [*NUMBERS, torch.int8], ids=str)
def test_clamp(call: Harness, dtype: torch.dtype) -> None:
    """Bounds are numbers or tensors, either may be missing, and the upper one wins."""
    cases = Cases(13)
    a = numbers(cases, dtype, 2, 3, 4)
    low, high = numbers(cases, dtype, 4), numbers(cases, dtype, 3, 1)
    out = (Out(a), Same())
    for bounds in ((-1, 2), (None, 1), (0, None), (3, -3)):
        assert torch.equal(torch.clamp(a, *bounds), call("aten::clamp.out", a, *bounds, *out))
    if dtype == torch.int8:
        return
    for pair in ((low, high), (None, high), (low, None)):
        assert torch.equal(torch.clamp(a, *pair), call("aten::clamp.Tensor_out", a, *pair, *out))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_where_and_masked_fill(call: Harness, dtype: torch.dtype) -> None:
    """A condition chooses, all three broadcast."""
    cases = Cases(14)
    condition = torch.randint(0, 2, (3, 1, 4), generator=cases.torch).bool()
    a, b = numbers(cases, dtype, 2, 4), numbers(cases, dtype)
    expected = torch.where(condition, a, b)

    actual = call("aten::where.self_out", condition, a, b, Out(expected), Same())

    assert torch.equal(expected, actual)
    filled = torch.broadcast_to(a, (3, 2, 4)).masked_fill(condition, 1)
    actual = call("aten::masked_fill.Scalar_out", a, condition, 1, Out(filled.contiguous()), Same())
    assert torch.equal(filled, actual)


CONVERTED = [*TYPES, torch.uint8]


@pytest.mark.parametrize("to", CONVERTED, ids=str)
@pytest.mark.parametrize("dtype", CONVERTED, ids=str)
def test_conversion(call: Harness, dtype: torch.dtype, to: torch.dtype) -> None:
    """Every type to every other, in another layout too; what is no integer is cut off."""
    cases = Cases(15)
    values = (
        (cases.floats(2, 3, 4, 5) * 3).abs()
        if torch.uint8 in {dtype, to}
        else cases.floats(2, 3, 4, 5) * 3
    )
    values = values.to(dtype)
    expected = values.to(to).to(memory_format=torch.channels_last)
    order = list(expected.dim_order())

    actual = call(
        "dim_order_ops::_to_dim_order_copy.out", values, False, order, Out(expected), Same()
    )

    assert torch.equal(expected, actual)
    actual = call("aten::_to_copy.out", values, False, None, Out(expected), Same())
    assert torch.equal(expected, actual)


def test_refusals(call: Harness) -> None:
    """Mixed types, shapes that do not broadcast, fractions for integers, and modes that are none."""
    a, wide = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int64)
    out = (Out(a), Same())
    wrong: list[tuple[str, tuple[Any, ...], str, int]] = [
        ("aten::add.out", (a, wide, 1, *out), "argument-scalar-type", 1),
        ("aten::add.out", (a, torch.zeros(2), 1, *out), "argument-shape", 1),
        ("aten::add.Scalar_out", (wide, 0.5, 1, Out(wide), Same()), "argument-scalar-type", 1),
        ("aten::exp.out", (wide, Out(wide), Same()), "argument-scalar-type", 0),
        ("aten::exp.out", (torch.zeros(3), *out), "argument-shape", 1),
        ("aten::gelu.out", (a, "fast", *out), "argument-value", 1),
        ("aten::div.out_mode", (a, a, "ceil", *out), "argument-value", 2),
        ("aten::gt.Tensor_out", (a, a, *out), "argument-scalar-type", 2),
        ("aten::where.self_out", (a, a, a, *out), "argument-scalar-type", 0),
        ("aten::gelu.out", (a, 1, *out), "argument-kind", 1),
    ]
    for name, arguments, code, argument in wrong:
        with pytest.raises(KernelRefusedError, match=code) as refused:
            call(name, *arguments)
        assert argument == refused.value.argument, name
