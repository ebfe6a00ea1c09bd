"""Portable kernels that move, make or look up elements, against torch; exact for every type."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name

from tests.kernels.cases import Cases
from tests.kernels.harness import (
    Doubles,
    Harness,
    KernelRefusedError,
    Out,
    Planned,
    Same,
    Tensors,
)
from tests.kernels.test_aten_elementwise import TYPES, image
from tests.kernels.test_layout import shape_of_rank, tensor


@pytest.mark.parametrize("seed", range(25))
def test_cat_and_stack(call: Harness, seed: int) -> None:
    """Any number of tensors, dimension, type and layout; empty ones do not count."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape, dim = shape_of_rank(cases, rank), cases.integer(-rank, rank - 1)
    first = tensor(cases, *shape)
    parts = [first]
    for _ in range(cases.integer(0, 3)):
        other = list(shape)
        other[dim] = cases.integer(1, 4)
        parts.append(torch.randint(-9, 9, other, generator=cases.torch).to(first.dtype))
    expected = torch.cat(parts, dim).contiguous()
    parts.append(torch.empty(0, dtype=first.dtype))

    actual = call("aten::cat.out", Tensors(tuple(parts)), dim, Out(expected), Same())

    assert torch.equal(expected, actual)
    stacked = torch.stack([first, first], dim).contiguous()
    actual = call("aten::stack.out", Tensors((first, first)), dim, Out(stacked), Same())
    assert torch.equal(stacked, actual)


@pytest.mark.parametrize("seed", range(25))
def test_parts(call: Harness, seed: int) -> None:
    """Slices with steps and ends anywhere, single indices, splits of either kind, unbinding."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape, dim = shape_of_rank(cases, rank), cases.integer(-rank, rank - 1)
    values = tensor(cases, *shape)
    size = shape[dim]
    start, end = cases.choice([None, 0, 1, -1, -99]), cases.choice([None, 2, -1, 99, 2**63 - 1])
    step = cases.integer(1, 3)
    expected = torch.ops.aten.slice_copy(values, dim, start, end, step).contiguous()
    if expected.numel():
        actual = call(
            "aten::slice_copy.Tensor_out",
            Planned(values),
            dim,
            start,
            end,
            step,
            Out(expected),
            Same(),
        )
        assert torch.equal(expected, actual)

    index = cases.integer(-size, size - 1)
    expected = torch.select(values, dim, index).contiguous()
    actual = call("aten::select_copy.int_out", values, dim, index, Out(expected), Same())
    assert torch.equal(expected, actual)

    width = cases.integer(1, size)
    parts = [p.contiguous() for p in torch.split(values, width, dim)]
    outs = Tensors(tuple(Out(p) for p in parts))
    for given in (width, [p.shape[dim] for p in parts]):
        name = "split_copy.Tensor_out" if given is width else "split_with_sizes_copy.out"
        actual_parts = call.all_outs(f"aten::{name}", values, given, dim, outs, Same())
        assert all(torch.equal(a, b) for a, b in zip(parts, actual_parts, strict=True))

    parts = [p.contiguous() for p in torch.unbind(values, dim)]
    outs = Tensors(tuple(Out(p) for p in parts))
    actual_parts = call.all_outs("aten::unbind_copy.int_out", values, dim, outs, Same())
    assert all(torch.equal(a, b) for a, b in zip(parts, actual_parts, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_repetition_and_order(call: Harness, seed: int) -> None:
    """Expanding, repeating, flipping, transposing and cloning, of any layout."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape = shape_of_rank(cases, rank)
    values = tensor(cases, *shape)
    wide = [2, *(cases.integer(2, 3) if s == 1 else s for s in shape)]
    expected = values.expand(wide).contiguous()
    sizes = [
        -1 if i > 0 and cases.integer(0, 1) and s == shape[i - 1] else s for i, s in enumerate(wide)
    ]
    assert torch.equal(
        expected, call("aten::expand_copy.out", values, sizes, False, Out(expected), Same())
    )

    repeats = [cases.integer(1, 3) for _ in range(rank + cases.integer(0, 1))]
    expected = values.repeat(repeats).contiguous()
    assert torch.equal(expected, call("aten::repeat.out", values, repeats, Out(expected), Same()))

    dims = sorted({cases.integer(-rank, rank - 1) % rank for _ in range(2)})
    expected = values.flip(dims).contiguous()
    assert torch.equal(expected, call("aten::flip.out", values, dims, Out(expected), Same()))

    a, b = cases.integer(-rank, rank - 1), cases.integer(-rank, rank - 1)
    expected = values.transpose(a, b).contiguous()
    assert torch.equal(
        expected, call("aten::transpose_copy.int_out", values, a, b, Out(expected), Same())
    )
    if rank <= 2:
        expected = values.t().contiguous()
        assert torch.equal(expected, call("aten::t_copy.out", values, Out(expected), Same()))

    expected = values.contiguous()
    assert torch.equal(expected, call("aten::clone.out", values, None, Out(expected), Same()))
    for name in ("detach_copy", "alias_copy", "lift_fresh_copy"):
        assert torch.equal(expected, call(f"aten::{name}.out", values, Out(expected), Same()))
    row = torch.arange(6).reshape(1, 6)
    assert torch.equal(row[0], call("aten::squeeze_copy.dim_out", row, 0, Out(row[0]), Same()))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_made_tensors(call: Harness, dtype: torch.dtype) -> None:
    """Tensors of one number, whatever its kind in the program is, and ranges."""
    like = torch.empty(2, 3).to(dtype)
    out = (Out(like), Same())
    for value in (0, 1, 0.0):
        expected = torch.full((2, 3), value, dtype=dtype)
        assert torch.equal(expected, call("aten::full.out", [2, 3], value, *out))
        assert torch.equal(expected, call("aten::full_like.out", like, value, None, *out))
        assert torch.equal(expected, call("aten::fill.Scalar_out", like, value, *out))
        single = torch.tensor(value, dtype=dtype)
        assert torch.equal(single, call("aten::scalar_tensor.out", value, Out(single), Same()))
    assert torch.equal(torch.zeros_like(like), call("aten::zeros.out", [2, 3], *out))
    assert torch.equal(torch.ones_like(like), call("aten::ones.out", [2, 3], *out))
    if dtype in {torch.float32, torch.int32, torch.int64}:
        for bounds in ((0, 7, 1), (-3, 8, 2), (5, -2, -3)):
            expected = torch.arange(*bounds, dtype=dtype)
            assert torch.equal(
                expected, call("aten::arange.start_out", *bounds, Out(expected), Same())
            )
        assert torch.equal(
            torch.arange(5, dtype=dtype),
            call("aten::arange.out", 5, Out(torch.arange(5, dtype=dtype)), Same()),
        )


def test_arange_of_fractions(call: Harness) -> None:
    """Fractional steps end before the end."""
    expected = torch.arange(0.5, 3.0, 0.3)

    actual = call("aten::arange.start_out", 0.5, 3.0, 0.3, Out(expected), Same())

    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("index", [torch.int64, torch.int32], ids=str)
def test_lookups(call: Harness, index: torch.dtype) -> None:
    """Embeddings, selected and gathered indices; negative ones count from the end where torch's do."""
    cases = Cases(2)
    table = tensor(cases, 9, 4)
    rows = torch.tensor([[0, 8, 3], [3, 3, 1]]).to(index)
    expected = F.embedding(rows, table)
    assert torch.equal(
        expected,
        call("aten::embedding.out", table, Planned(rows), -1, False, False, Out(expected), Same()),
    )

    values = tensor(cases, 3, 5, 2, 4)
    for dim in (0, 1, -1):
        chosen = torch.tensor([1, 0, 2, 1]).to(index)
        expected = torch.index_select(values, dim, chosen).contiguous()
        assert torch.equal(
            expected,
            call("aten::index_select.out", values, dim, Planned(chosen), Out(expected), Same()),
        )
        where = torch.randint(0, values.shape[dim], (2, 4, 2, 3), generator=cases.torch)
        expected = torch.gather(values, dim, where)
        assert torch.equal(
            expected,
            call(
                "aten::gather.out",
                values,
                dim,
                Planned(where.to(index)),
                False,
                Out(expected),
                Same(),
            ),
        )


INDEXINGS: list[list[Any]] = [
    [None, torch.tensor([0, 2, -1])],
    [torch.tensor([1, 0])],
    [torch.tensor([[0], [1]]), torch.tensor([0, 2, 4])],
    [torch.tensor([0, 1]), None, torch.tensor([1, 0])],
    [None, None, torch.tensor([1]), torch.tensor([[3, 0], [1, 2]])],
    [None, None, None, torch.tensor([3, 2, 1, 0, 0, 1])],
]


@pytest.mark.parametrize(
    "indices", INDEXINGS, ids=lambda i: "-".join("n" if x is None else "i" for x in i)
)
def test_index(call: Harness, indices: list[Any]) -> None:
    """Any dimensions by tensors that broadcast; their result stands where torch puts it."""
    values = tensor(Cases(3), 2, 5, 3, 4)
    expected = torch.ops.aten.index(values, indices).contiguous()

    actual = call("aten::index.Tensor_out", values, Tensors(tuple(indices)), Out(expected), Same())

    assert torch.equal(expected, actual)


def test_indices_outside(call: Harness) -> None:
    """An index that leads outside of the table is an error of the run, not a read beyond it."""
    table, bad = torch.zeros(3, 4), torch.tensor([3])
    out = (Out(torch.zeros(1, 4)), Same())

    with pytest.raises(KernelRefusedError, match="index-out-of-range"):
        call("aten::embedding.out", table, Planned(bad), -1, False, False, *out)
    with pytest.raises(KernelRefusedError, match="index-out-of-range"):
        call("aten::index_select.out", table, 0, Planned(torch.tensor([-4])), *out)
    with pytest.raises(KernelRefusedError, match="index-out-of-range"):
        call("aten::index.Tensor_out", table, Tensors((Planned(bad),)), *out)


@pytest.mark.parametrize("seed", range(10))
def test_upsampling(call: Harness, seed: int) -> None:
    """Nearest and bilinear, by sizes or factors, corners aligned or not, either layout."""
    cases = Cases(seed)
    values = image(
        cases, cases.integer(1, 2), cases.integer(1, 3), cases.integer(1, 6), cases.integer(1, 6)
    )
    factors = [cases.choice([2.0, 1.5, 3.0, 0.5]) for _ in range(2)]
    sizes = [max(1, int(s * f)) for s, f in zip(values.shape[2:], factors, strict=True)]
    by_size = cases.choice([True, False]) or any(
        s * f < 1 for s, f in zip(values.shape[2:], factors, strict=True)
    )
    given = (sizes, None) if by_size else (None, factors)
    listed = (sizes, None) if by_size else (None, Doubles(tuple(factors)))
    expected = torch.ops.aten.upsample_nearest2d.vec(values, *given)

    actual = call(
        "aten::upsample_nearest2d.vec_out", Planned(values), *listed, Out(expected), Same()
    )

    assert torch.equal(expected, actual)
    for corners in (False, True):
        expected = torch.ops.aten.upsample_bilinear2d.vec(values, given[0], corners, given[1])
        actual = call(
            "aten::upsample_bilinear2d.vec_out",
            values,
            listed[0],
            corners,
            listed[1],
            Out(expected),
            Same(),
        )
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def test_pixel_shuffles(call: Harness) -> None:
    """Channels become pixels and come back."""
    values = tensor(Cases(4), 2, 12, 3, 5)
    wide = torch.ops.aten.pixel_shuffle(values, 2).contiguous()

    assert torch.equal(wide, call("aten::pixel_shuffle.out", values, 2, Out(wide), Same()))
    back = values.contiguous()
    assert torch.equal(back, call("aten::pixel_unshuffle.out", wide, 2, Out(back), Same()))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool], ids=str)
def test_constant_pad_of_other_types(call: Harness, dtype: torch.dtype) -> None:
    """Integers and bool are padded too, with a number that the program may write as a fraction."""
    values = torch.ones(2, 3).to(dtype)
    expected = F.pad(values, (1, 2), value=0)

    actual = call("aten::constant_pad_nd.out", values, [1, 2], 0.0, Out(expected), Same())

    assert torch.equal(expected, actual)


def test_refusals(call: Harness) -> None:
    """Parts that are not there, shapes that do not follow from the arguments."""
    a = torch.zeros(2, 3)
    wrong: list[tuple[str, tuple[Any, ...], str]] = [
        ("aten::cat.out", (Tensors((a, a)), 0, Out(a)), "argument-shape"),
        (
            "aten::cat.out",
            (Tensors((a, a.long())), 0, Out(torch.zeros(4, 3))),
            "argument-scalar-type",
        ),
        ("aten::cat.out", (Tensors((a, None)), 0, Out(torch.zeros(4, 3))), "index-out-of-range"),
        ("aten::cat.out", (Tensors((a, a)), 2, Out(torch.zeros(4, 3))), "argument-value"),
        ("aten::slice_copy.Tensor_out", (a, 0, 0, 1, 0, Out(a)), "argument-value"),
        ("aten::slice_copy.Tensor_out", (a, 0, 0, 1, 1, Out(a)), "argument-shape"),
        ("aten::select_copy.int_out", (a, 0, 2, Out(torch.zeros(3))), "argument-value"),
        ("aten::full.out", ([2, 2], 0, Out(a)), "argument-shape"),
        ("aten::full.out", ([2, 3], 0.5, Out(a.long())), "argument-value"),
        ("aten::expand_copy.out", (a, [4, 3], False, Out(torch.zeros(4, 3))), "argument-shape"),
        ("aten::arange.start_out", (0, 5, 0, Out(torch.zeros(5))), "argument-value"),
    ]
    for name, arguments, code in wrong:
        with pytest.raises(KernelRefusedError, match=code):
            call(name, *arguments, Same())
