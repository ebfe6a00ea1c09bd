"""Portable kernels that select, order, pad and sample, against torch; exact where nothing is computed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same
from tests.kernels.test_aten_elementwise import (
    EDGES,
    SPECIAL,
    assert_close,
    image,
    numbers,
)
from tests.kernels.test_layout import shape_of_rank, tensor

INTEGERS = [torch.int8, torch.uint8, torch.int32, torch.int64]


@pytest.mark.parametrize("seed", range(25))
def test_topk(call: Harness, seed: int) -> None:
    """Values as torch's; indices lead to them, each once, the first of equals first; a NaN is the largest."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape, dim = shape_of_rank(cases, rank), cases.integer(-rank, rank - 1)
    values = cases.choice([tensor(cases, *shape), (cases.floats(*shape) * 2).round()])
    if values.dtype == torch.float32 and cases.integer(0, 2) == 0:
        values.flatten()[:1].fill_(torch.nan)
    largest, count = cases.choice([True, False]), cases.integer(1, shape[dim])
    expected, _ = torch.topk(values, count, dim, largest)
    expected = expected.contiguous()
    stable = values.contiguous().sort(stable=True, dim=dim, descending=largest)[1]
    stable = stable.narrow(dim, 0, count).contiguous()

    actual, indices = call.all_outs(
        "aten::topk.values", Planned(values), count, dim, largest, True,
        Out(expected), Out(stable), None,
    )  # fmt: skip

    assert torch.equal(torch.nan_to_num(expected, 77), torch.nan_to_num(actual, 77))
    assert torch.equal(stable, indices)


@pytest.mark.parametrize("seed", range(20))
def test_order_and_parts(call: Harness, seed: int) -> None:
    """Rolling, lower triangles, windows, diagonals and narrow parts, of any layout."""
    cases = Cases(seed)
    rank = cases.integer(2, 4)
    shape = shape_of_rank(cases, rank)
    values = tensor(cases, *shape)

    dims = [cases.integer(-rank, rank - 1) for _ in range(cases.integer(0, 2))]
    shifts = [cases.integer(-7, 7) for _ in dims] or [cases.integer(-99, 99)]
    expected = values.roll(shifts, dims).contiguous()
    out = (Out(expected), Same())
    assert torch.equal(expected, call("aten::roll.out", values, shifts, dims, *out))

    diagonal = cases.integer(-3, 3)
    expected = values.tril(diagonal).contiguous()
    assert torch.equal(expected, call("aten::tril.out", values, diagonal, *out))

    dim = cases.integer(-rank, rank - 1)
    size, step = cases.integer(1, shape[dim]), cases.integer(1, 3)
    expected = values.unfold(dim, size, step).contiguous()
    actual = call("aten::unfold_copy.out", values, dim, size, step, Out(expected), Same())
    assert torch.equal(expected, actual)

    first, second = cases.random.sample(range(rank), 2)
    offset = cases.integer(1 - shape[first], shape[second] - 1)
    expected = values.diagonal(offset, first, second).contiguous()
    actual = call(
        "aten::diagonal_copy.out", values, offset, first, second - rank, Out(expected), Same()
    )
    assert torch.equal(expected, actual)

    start = cases.integer(-shape[dim], shape[dim] - 1)
    length = cases.integer(1, shape[dim] - start % shape[dim])
    expected = values.narrow(dim, start, length).contiguous()
    actual = call("aten::narrow_copy.out", values, dim, start, length, Out(expected), Same())
    assert torch.equal(expected, actual)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_edge_pads(call: Harness, seed: int, dims: int) -> None:
    """Reflection up to one less than the size, replication beyond it, with and without a batch."""
    cases = Cases(seed)
    batch = cases.integer(0, 1)
    shape = [2] * (1 + batch) + [cases.integer(1, 5) for _ in range(dims)]
    values = tensor(cases, *shape).float()
    sizes = [s for s in reversed(shape[-dims:]) for _ in range(2)]
    pad = [cases.integer(0, s - 1) for s in sizes]
    expected = F.pad(values, pad, mode="reflect").contiguous()

    actual = call(f"aten::reflection_pad{dims}d.out", Planned(values), pad, Out(expected), Same())

    assert torch.equal(expected, actual)
    pad = [cases.integer(0, s + 2) for s in sizes]
    expected = F.pad(values, pad, mode="replicate").contiguous()
    actual = call(f"aten::replication_pad{dims}d.out", values, pad, Out(expected), Same())
    assert torch.equal(expected, actual)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_grid_sampler(call: Harness, mode: int, padding: int, *, aligned: bool) -> None:
    """Bilinear and nearest; inside, outside, far outside."""
    for seed in range(4):
        cases = Cases(seed)
        values = image(cases, 2, 3, cases.integer(1, 5), cases.integer(1, 5))
        grid = cases.floats(2, 4, 5, 2) * cases.choice([0.5, 1.5, 20.0])
        expected = torch.ops.aten.grid_sampler_2d(values, grid, mode, padding, aligned)

        actual = call(
            "aten::grid_sampler_2d.out", Planned(values), Planned(grid), mode, padding, aligned,
            Out(expected), Same(),
        )  # fmt: skip

        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, torch.inf])
def test_distances(call: Harness, p: float) -> None:
    """Of rows of two matrices, batches broadcast, and of the rows of one."""
    for seed in range(5):
        cases = Cases(seed)
        width = cases.integer(1, 6)
        a = numbers(cases, torch.float32, cases.choice([1, 2]), cases.integer(1, 4), width)
        b = numbers(cases, torch.float32, cases.integer(1, 4), width)
        expected = torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist").contiguous()

        actual = call(
            "aten::_cdist_forward.out", Planned(a), Planned(b), p, None, Out(expected), Same()
        )

        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
        rows = torch.cat([b, b + 1])
        expected = F.pdist(rows, p)
        actual = call("aten::_pdist_forward.out", Planned(rows), p, Out(expected), Same())
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.int64], ids=str)
def test_floor_divide(call: Harness, dtype: torch.dtype) -> None:
    """Down, for every pair of signs; floats by zero too, the ends of integers."""
    a = torch.arange(-7, 8).to(dtype).reshape(-1, 1)
    b = torch.tensor([-5, -3, -2, -1, 1, 2, 3, 5]).to(dtype)
    if dtype == torch.float32:
        a, b = (
            torch.cat([a, a / 3, SPECIAL.reshape(-1, 1)]),
            torch.cat([b, b * 0.7, torch.zeros(1)]),
        )
    else:
        ends = torch.iinfo(dtype)
        a = torch.cat([a, torch.tensor([[ends.max], [ends.min + 1]]).to(dtype)])
    expected = torch.floor_divide(a, b)

    actual = call("aten::floor_divide.out", Planned(a), Planned(b), Out(expected), Same())

    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    if dtype != torch.float32:
        for mode in ("floor", "trunc"):
            expected = torch.div(a, b, rounding_mode=mode)
            out = (mode, Out(expected), Same())
            assert torch.equal(expected, call("aten::div.out_mode", Planned(a), Planned(b), *out))
            expected = torch.div(a, -3, rounding_mode=mode)
            out = (mode, Out(expected), Same())
            assert torch.equal(expected, call("aten::div.Scalar_mode_out", Planned(a), -3, *out))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts(call: Harness, name: str, dtype: torch.dtype) -> None:
    """By every amount up to the width and beyond it, by a tensor and by a number; bool has no shift."""
    ends = torch.iinfo(dtype)
    values = (
        torch.tensor([0, 1, 5, 100, ends.max, ends.min, ends.min // 2]).to(dtype).reshape(-1, 1)
    )
    bits = torch.arange(0, ends.bits + 3).to(dtype)
    expected = getattr(torch.ops.aten, name)(values, bits)

    actual = call(f"aten::{name}.Tensor_out", Planned(values), Planned(bits), Out(expected), Same())

    assert torch.equal(expected, actual)
    expected = getattr(torch.ops.aten, name)(values, 3)
    actual = call(f"aten::{name}.Tensor_Scalar_out", values, 3, Out(expected), Same())
    assert torch.equal(expected, actual)
    truth = torch.tensor([True])
    with pytest.raises(KernelRefusedError, match="argument-scalar-type"):
        call(f"aten::{name}.Tensor_out", truth, truth, Out(truth), Same())


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_logit(call: Harness, eps: float | None) -> None:
    """Inside, at the ends, outside, and at no number."""
    values = torch.cat([torch.linspace(0, 1, 21), EDGES, SPECIAL])
    expected = torch.logit(values, eps)

    assert_close(expected, call("aten::logit.out", Planned(values), eps, Out(expected), Same()))


@pytest.mark.parametrize("seed", range(10))
def test_var_mean(call: Harness, seed: int) -> None:
    """Over any dimensions, kept or not, with any correction; both results."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    values = cases.floats(*(cases.integer(2, 4) for _ in range(rank)))
    dims = cases.choice([None, [], sorted({cases.integer(0, rank - 1) for _ in range(2)})])
    correction, keep = cases.choice([None, 0, 1, 1.5]), cases.choice([True, False])
    expected = [
        t.contiguous() for t in torch.var_mean(values, dims, correction=correction, keepdim=keep)
    ]

    actual = call.all_outs(
        "aten::var_mean.correction_out", Planned(values), dims, correction, keep,
        Out(expected[0]), Out(expected[1]), None,
    )  # fmt: skip

    for one, two in zip(expected, actual, strict=True):
        torch.testing.assert_close(two, one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_repeat_interleave(call: Harness, dtype: torch.dtype) -> None:
    """Each index as often as asked; an output that does not fit is found when it runs."""
    repeats = torch.tensor([2, 0, 3, 1]).to(dtype)
    expected = torch.repeat_interleave(repeats)
    name = "aten::repeat_interleave.Tensor_out"

    assert torch.equal(expected, call(name, Planned(repeats), 6, Out(expected), Same()))
    for like in (expected[:5], torch.zeros(7, dtype=dtype)):
        with pytest.raises(KernelRefusedError, match="index-out-of-range"):
            call(name, Planned(repeats), None, Out(like), Same())


def test_dropout_in_inference(call: Harness) -> None:
    """All of the input, and a mask that says so; training, which draws lots, is refused."""
    values = image(Cases(1), 1, 2, 3, 4)
    expected = torch.ops.aten.native_dropout(values, 0.5, False)
    outs = (Out(expected[0].contiguous()), Out(expected[1].contiguous()), None)

    actual = call.all_outs("aten::native_dropout.out", Planned(values), 0.5, False, *outs)

    assert torch.equal(expected[0], actual[0])
    assert torch.equal(expected[1], actual[1])
    with pytest.raises(KernelRefusedError, match="argument-value"):
        call("aten::native_dropout.out", Planned(values), 0.5, True, *outs)


def test_refusals(call: Harness) -> None:
    """Dimensions, sizes and amounts that are not there."""
    a = torch.zeros(2, 3)
    wrong: list[tuple[str, tuple[Any, ...], torch.Tensor, str]] = [
        ("roll.out", (a, [1], [2]), a, "argument-value"),
        ("roll.out", (a, [1, 2], [0]), a, "argument-value"),
        ("tril.out", (a[0], 0), a[0], "argument-shape"),
        ("unfold_copy.out", (a, 1, 4, 1), a, "argument-value"),
        ("unfold_copy.out", (a, 1, 2, 1), a, "argument-shape"),
        ("diagonal_copy.out", (a, 0, 0, 0), a[0], "argument-value"),
        ("narrow_copy.out", (a, 1, 2, 2), a, "argument-value"),
        ("reflection_pad1d.out", (a, [3, 0]), torch.zeros(2, 6), "argument-value"),
        ("replication_pad1d.out", (a, [3, -1]), torch.zeros(2, 5), "argument-value"),
        ("grid_sampler_2d.out", (a[None, None], a[None, :, :2, None], 2, 0, False),
         a[None, None], "argument-value"),
        ("_pdist_forward.out", (a, -1.0), a[0, :1], "argument-value"),
        ("floor_divide.out", (a, a.int()), a, "argument-scalar-type"),
    ]  # fmt: skip
    for name, arguments, like, code in wrong:
        with pytest.raises(KernelRefusedError, match=code):
            call(f"aten::{name}", *arguments, Out(like), Same())
    for count, dim in ((4, 1), (-1, 1), (1, 2)):
        with pytest.raises(KernelRefusedError, match="argument-value"):
            call("aten::topk.values", a, count, dim, True, True, Out(a), Out(a.long()), None)
