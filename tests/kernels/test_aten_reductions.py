"""Portable kernels that make one number of many, and those that work along lines, against torch.

Sums are within 2^-20 of the sum of the terms' magnitudes, as in test_float.py; extremes and indices are exact.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same
from tests.kernels.test_aten_elementwise import NUMBERS, TYPES, image, numbers
from tests.kernels.test_float import SUM_TOLERANCE, assert_sums

DIMS = [[2, 3], [-1, -2], [1], [0, 1, 2, 3], [0, 3], []]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_sums_and_variances(call: Harness, dims: list[int], *, keep: bool) -> None:
    """Over any dimensions, kept or not, of either layout."""
    cases = Cases(3)
    for _ in range(3):
        values = image(cases, 2, cases.integer(1, 4), cases.integer(1, 9), 3)
        double = values.double()
        every = dims or [0, 1, 2, 3]
        exact = torch.sum(double, every, keepdim=keep)
        magnitude = torch.sum(double.abs(), every, keepdim=keep)
        out = (Out(torch.empty(exact.shape)), Same())
        assert_sums(
            call("aten::sum.IntList_out", Planned(values), dims, keep, None, *out), exact, magnitude
        )
        for correction in (0, 1, None, 1.0):
            given = 1 if correction is None else correction
            exact = torch.var(double, every, correction=given, keepdim=keep)
            actual = call("aten::var.correction_out", values, every, correction, keep, *out)
            torch.testing.assert_close(actual, exact.float(), rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.bool], ids=str)
def test_sums_of_integers(call: Harness, dtype: torch.dtype) -> None:
    """Integers and bool are summed as int64."""
    values = numbers(Cases(4), dtype, 3, 4, 5)
    expected = values.sum(1)

    actual = call("aten::sum.IntList_out", values, [1], False, None, Out(expected), Same())

    assert torch.equal(expected, actual)


def test_means_of_all_and_products(call: Harness) -> None:
    """The mean of everything, the product along a dimension and of everything."""
    values = image(Cases(5), 2, 3, 4, 5)
    scalar = (Out(torch.tensor(0.0)), Same())

    mean = call("aten::mean.dtype_out", Planned(values), None, *scalar)
    torch.testing.assert_close(mean, values.mean(), rtol=1e-5, atol=1e-6)
    product = values.prod(2)
    actual = call("aten::prod.int_out", values, 2, False, None, Out(product), Same())
    torch.testing.assert_close(actual, product)
    small = values[0, 0]
    torch.testing.assert_close(call("aten::prod.out", small, None, *scalar), small.prod())


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes(call: Harness, name: str, dtype: torch.dtype) -> None:
    """Values and indices over dimensions and everything; of equals the first, a NaN before all."""
    for seed in range(6):
        cases = Cases(seed)
        values = numbers(cases, dtype, 2, 3, 4, 5).to(
            memory_format=cases.choice([torch.contiguous_format, torch.channels_last])
        )
        if dtype == torch.float32 and seed % 2:
            values[0, 1, 2, 3] = values[1, 2, 0, 0] = torch.nan
        dim, keep = cases.integer(-4, 3), cases.choice([False, True])
        best, index = getattr(torch, name)(values, dim, keepdim=keep)
        best, index = best.contiguous(), index.contiguous()

        outs = call.all_outs(
            f"aten::{name}.dim_{name}", values, dim, keep, Out(best), Out(index), None
        )
        assert torch.equal(best.nan_to_num(99), outs[0].nan_to_num(99))
        assert torch.equal(index, outs[1])
        along = call(f"aten::a{name}.out", values, [dim], keep, Out(best), Same())
        assert torch.equal(best.nan_to_num(99), along.nan_to_num(99))
        found = call(f"aten::arg{name}.out", values, dim, keep, Out(index), Same())
        assert torch.equal(index, found)
        of_all = getattr(torch, f"arg{name}")(values)
        assert torch.equal(
            of_all, call(f"aten::arg{name}.out", values, None, False, Out(of_all), Same())
        )
        whole = getattr(torch, name)(values)
        actual = call(f"aten::{name}.unary_out", values, Out(whole), Same())
        assert torch.equal(whole.nan_to_num(99), actual.nan_to_num(99))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_any(call: Harness, dtype: torch.dtype) -> None:
    """Whether anything is not zero, along a dimension, several, or everything."""
    values = numbers(Cases(6), dtype, 3, 4, 5)
    values[1] = 0
    out = values.any(2)
    assert torch.equal(out, call("aten::any.out", values, 2, False, Out(out), Same()))
    out = torch.any(values, (0, 2))
    assert torch.equal(out, call("aten::any.dims_out", values, [0, 2], False, Out(out), Same()))
    out = values.any()
    assert torch.equal(out, call("aten::any.all_out", values, Out(out), Same()))


@pytest.mark.parametrize("name", ["_softmax", "_log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1])
def test_softmaxes(call: Harness, name: str, dim: int) -> None:
    """Along any dimension of either layout, also for large numbers."""
    cases = Cases(7)
    for scale in (1, 40):
        values = image(cases, 2, 3, 4, 5) * scale
        expected = getattr(torch.ops.aten, name)(values.double(), dim, False)

        actual = call(f"aten::{name}.out", Planned(values), dim, False, Out(values), Same())

        torch.testing.assert_close(actual.double(), expected, rtol=2e-6, atol=SUM_TOLERANCE)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cumsum_and_glu(call: Harness, dim: int) -> None:
    """Running sums along any dimension; halves gated by each other."""
    values = image(Cases(8), 2, 4, 6, 4)
    expected = values.cumsum(dim)

    actual = call("aten::cumsum.out", values, dim, None, Out(expected), Same())

    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    gated = F.glu(values, dim)
    actual = call("aten::glu.out", values, dim, Out(gated), Same())
    torch.testing.assert_close(actual, gated, rtol=1e-6, atol=1e-6)
    whole = torch.arange(6).reshape(2, 3)
    expected = whole.cumsum(1)
    assert torch.equal(expected, call("aten::cumsum.out", whole, 1, None, Out(expected), Same()))


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("mean", [0.0, 1000.0])
def test_norms(call: Harness, mean: float, *, affine: bool) -> None:
    """Layer, group and instance norm; a large mean costs no more digits than the input has."""
    cases = Cases(9)
    values = cases.floats(2, 6, 4, 5) + mean
    tolerance = {"rtol": 1e-4, "atol": 1e-4 if mean == 0.0 else 2e-3}
    small = Out(torch.empty(2, 6, 4, 1))

    weight, bias = (cases.floats(5), cases.floats(5)) if affine else (None, None)
    expected = F.layer_norm(values.double(), [5], _double(weight), _double(bias)).float()
    outs = call.all_outs(
        "aten::native_layer_norm.out",
        values,
        [5],
        weight,
        bias,
        1e-5,
        Out(values),
        small,
        small,
        None,
    )
    torch.testing.assert_close(outs[0], expected, **tolerance)
    torch.testing.assert_close(outs[1], values.mean(-1, keepdim=True), rtol=1e-5, atol=1e-5)

    laid = values.to(memory_format=torch.channels_last)
    weight, bias = (cases.floats(6), cases.floats(6)) if affine else (None, None)
    expected = F.group_norm(values.double(), 3, _double(weight), _double(bias)).float()
    groups = Out(torch.empty(2, 3))
    actual = call(
        "aten::native_group_norm.out",
        *(laid, weight, bias, 2, 6, 20, 3, 1e-5, Out(values), groups, groups, None),
    )
    torch.testing.assert_close(actual, expected, **tolerance)

    one = values[:1]
    expected = F.instance_norm(one.double(), None, None, _double(weight), _double(bias)).float()
    channel = Out(torch.empty(6))
    actual = call(
        "aten::_native_batch_norm_legit.no_stats_out",
        *(one, weight, bias, True, 0.1, 1e-5, Out(one), channel, channel, None),
    )
    torch.testing.assert_close(actual, expected, **tolerance)


def _double(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.double()


@pytest.mark.parametrize("seed", range(10))
def test_bmm(call: Harness, seed: int) -> None:
    """Batches of matrices of any size, transposed in memory or not."""
    cases = Cases(seed)
    batch, rows, depth, columns = (cases.integer(1, n) for n in (3, 5, 60, 7))
    a, b = cases.floats(batch, rows, depth), cases.floats(batch, depth, columns)
    like = torch.empty(batch, rows, columns)

    actual = call("aten::bmm.out", Planned(a), Planned(b), Out(like), Same())

    assert_sums(actual, a.double() @ b.double(), a.double().abs() @ b.double().abs())


@pytest.mark.parametrize("flat", [False, True], ids=["2d", "1d"])
@pytest.mark.parametrize("seed", range(40))
def test_convolutions(call: Harness, seed: int, *, flat: bool) -> None:
    """Transposed or not, over one or two dimensions, grouped, dilated, with output padding, any layout."""
    cases = Cases(seed)
    dims = 1 if flat else 2
    kernel, stride, dilation = ([cases.integer(1, n) for _ in range(dims)] for n in (4, 3, 2))
    transposed = cases.choice([False, True])
    padding = [cases.integer(0, d * (k - 1) // 2) for d, k in zip(dilation, kernel, strict=True)]
    extra = [cases.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    extra = extra if transposed else [0] * dims
    groups, depth, outputs = cases.choice([1, 1, 2, 3]), cases.integer(1, 5), cases.integer(1, 4)
    size = [d * (k - 1) + 1 + cases.integer(0, 4) for d, k in zip(dilation, kernel, strict=True)]
    values = cases.floats(cases.integer(1, 2), groups * depth, *size)
    shape = (groups * depth, outputs) if transposed else (groups * outputs, depth)
    weight = cases.floats(*shape, *kernel)
    if not flat:
        values = values.to(
            memory_format=cases.choice([torch.contiguous_format, torch.channels_last])
        )
    bias = cases.choice([None, cases.floats(groups * outputs)])
    options = (stride, padding, dilation, transposed, extra, groups)
    exact = torch.ops.aten.convolution(values.double(), weight.double(), _double(bias), *options)
    positive = None if bias is None else bias.double().abs()
    magnitude = torch.ops.aten.convolution(
        values.double().abs(), weight.double().abs(), positive, *options
    )

    actual = call(
        "aten::convolution.out",
        *(Planned(values), weight, bias, *options, Out(torch.empty(exact.shape)), Same()),
    )

    assert_sums(actual, exact, magnitude)


def test_adaptive_average(call: Harness) -> None:
    """Windows share the input out evenly, sizes that do not divide included."""
    cases = Cases(10)
    for size in ([1, 1], [2, 3], [4, 5], [3, 7]):
        values = image(cases, 2, 3, 7, 9)
        expected = torch.ops.aten._adaptive_avg_pool2d(values.contiguous(), size)

        actual = call("aten::_adaptive_avg_pool2d.out", values, size, Out(expected), Same())

        torch.testing.assert_close(actual, expected)


def test_refusals(call: Harness) -> None:
    """Dimensions that are not there or come twice, shapes that are not what is left."""
    values = torch.zeros(2, 3)
    for name, arguments, code in [
        ("aten::amax.out", (values, [2], False, Out(torch.zeros(2))), "argument-value"),
        ("aten::amax.out", (values, [0, 0], False, Out(torch.zeros(3))), "argument-value"),
        ("aten::amax.out", (values, [0], False, Out(torch.zeros(2))), "argument-shape"),
        ("aten::argmax.out", (values, 0, False, Out(torch.zeros(3))), "argument-scalar-type"),
        ("aten::bmm.out", (values, values, Out(values)), "argument-shape"),
        ("aten::_softmax.out", (values, 2, False, Out(values)), "argument-value"),
    ]:
        with pytest.raises(KernelRefusedError, match=code):
            call(name, *arguments, Same())
