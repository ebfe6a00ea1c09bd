"""Portable kernels that write parts of a tensor, against torch; exact for every type."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same, Tensors
from tests.kernels.test_aten_elementwise import NUMBERS, TYPES, numbers
from tests.kernels.test_layout import LAYOUTS, shape_of_rank, tensor


def other(cases: Cases, like: torch.Tensor, *shape: int) -> torch.Tensor:
    """Return random numbers of the same type; four dimensions in either layout."""
    values = torch.randint(-99, 99, shape, generator=cases.torch).to(like.dtype)
    return values.to(memory_format=cases.choice(LAYOUTS)) if len(shape) == 4 else values


def distinct_indices(cases: Cases, shape: list[int], dim: int, size: int) -> torch.Tensor:
    """Return indices that do not meet along a dimension, some of them from the end."""
    ranks = torch.rand(
        [size if d == dim else s for d, s in enumerate(shape)], generator=cases.torch
    ).argsort(dim)
    chosen = ranks.narrow(dim, 0, shape[dim])
    return chosen.to(cases.choice([torch.int64, torch.int32]))


@pytest.mark.parametrize("seed", range(25))
def test_scatter(call: Harness, seed: int) -> None:
    """Along any dimension, from a larger source or a number, indices that leave some of self alone."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape = shape_of_rank(cases, rank)
    dim = cases.integer(0, rank - 1)
    signed = cases.choice([dim, dim - rank])
    values = tensor(cases, *shape)
    part = [cases.integer(1, s) for s in shape]
    index = distinct_indices(cases, part, dim, shape[dim])
    source = other(cases, values, *(s + cases.integer(0, 1) for s in part))

    expected = values.scatter(dim, index.long(), source).contiguous()
    out = (Out(expected), Same())
    assert torch.equal(
        expected, call("aten::scatter.src_out", values, signed, Planned(index), source, *out)
    )
    number = cases.integer(-5, 5)
    expected = values.scatter(dim, index.long(), number).contiguous()
    assert torch.equal(
        expected, call("aten::scatter.value_out", values, signed, Planned(index), number, *out)
    )


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_scatter_add(call: Harness, seed: int, dtype: torch.dtype) -> None:
    """Indices meet: what is added there adds up."""
    cases = Cases(seed)
    shape, dim = [3, 4, 2], cases.integer(0, 2)
    values = numbers(cases, dtype, *shape)
    index = torch.randint(0, shape[dim], (2, 3, 2), generator=cases.torch)
    source = numbers(cases, dtype, 2, 3, 2)
    expected = values.scatter_add(dim, index, source)

    actual = call(
        "aten::scatter_add.out", values, dim, Planned(index), source, Out(expected), Same()
    )

    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put(call: Harness, seed: int, *, accumulate: bool) -> None:
    """Indices of some dimensions, neighbours or not, broadcast; values broadcast to what they index."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape = [cases.choice([2, 3, 5]) for _ in range(rank)]
    values = torch.randint(-9, 9, shape, generator=cases.torch).float()
    chosen = sorted({cases.integer(0, rank - 1) for _ in range(2)})
    # Indices that do not meet: which value wins would be torch's choice.
    count = min(shape[d] for d in chosen)
    rows = [torch.randperm(shape[d], generator=cases.torch)[:count] for d in chosen]
    if not accumulate:
        indices = [row - cases.choice([0, shape[d]]) for row, d in zip(rows, chosen, strict=True)]
    else:
        indices = [row[torch.randint(0, count, (count,), generator=cases.torch)] for row in rows]
    if cases.integer(0, 1):
        indices = [index.reshape(count, 1) for index in indices]
    given: list[torch.Tensor | None] = [None] * (chosen[-1] + 1)
    for d, index in zip(chosen, indices, strict=True):
        given[d] = index
    inner = values[tuple(slice(None) if g is None else g for g in given)].shape
    source_shape = [1 if cases.integer(0, 3) == 0 else s for s in inner][cases.integer(0, 1) :]
    source = torch.randint(-9, 9, source_shape, generator=cases.torch).float()
    expected = torch.ops.aten.index_put(values, given, source, accumulate)
    listed = Tensors(tuple(None if g is None else Planned(g) for g in given))

    actual = call("aten::index_put.out", values, listed, source, accumulate, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(20))
def test_select_and_slice_scatter(call: Harness, seed: int) -> None:
    """One index of a dimension, or every n-th of a range, replaced; ends anywhere, empty ranges too."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    shape, dim = shape_of_rank(cases, rank), cases.integer(-rank, rank - 1)
    values = tensor(cases, *shape)
    index = cases.integer(-shape[dim], shape[dim] - 1)
    source = other(cases, values, *torch.select(values, dim, index).shape)
    expected = torch.select_scatter(values, source, dim, index).contiguous()
    out = (Out(expected), Same())

    assert torch.equal(expected, call("aten::select_scatter.out", values, source, dim, index, *out))

    start, end = cases.choice([None, 0, 1, -1, -99]), cases.choice([None, 2, -1, 99])
    step = cases.integer(1, 3)
    source = other(cases, values, *torch.ops.aten.slice(values, dim, start, end, step).shape)
    expected = torch.slice_scatter(values, source, dim, start, end, step).contiguous()
    actual = call("aten::slice_scatter.out", values, Planned(source), dim, start, end, step, *out)
    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(15))
def test_masked_scatter(call: Harness, seed: int) -> None:
    """The source's elements in order where the mask holds, self and mask broadcast."""
    cases = Cases(seed)
    values = tensor(cases, *(cases.choice([1, s]) for s in (2, 3, 4)))
    mask = torch.rand([cases.choice([1, s]) for s in (3, 4)], generator=cases.torch) > 0.5
    shape = torch.broadcast_shapes(values.shape, mask.shape)
    source = other(cases, values, 4, 6)
    expected = values.expand(shape).masked_scatter(mask.expand(shape), source).contiguous()

    actual = call("aten::masked_scatter.out", values, Planned(mask), source, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("source_dtype", TYPES, ids=str)
def test_copy_and_fill(call: Harness, dtype: torch.dtype, source_dtype: torch.dtype) -> None:
    """Another tensor's numbers, broadcast and converted; of one number."""
    cases = Cases(7)
    values, source = numbers(cases, dtype, 2, 3, 4), numbers(cases, source_dtype, 3, 1)
    expected = torch.ops.aten.copy(values, source)
    out = (Out(expected), Same())

    assert torch.equal(expected, call("aten::copy.out", values, Planned(source), False, *out))
    one = numbers(cases, source_dtype)
    expected = torch.ops.aten.fill(values, one)
    assert torch.equal(expected, call("aten::fill.Tensor_out", values, Planned(one), *out))


def test_in_place(call: Harness) -> None:
    """The forms that write self itself, which programs have for mutable buffers."""
    like, source = torch.zeros(2, 3), torch.tensor([1.0, 2.0, 3.0])

    actual = call("aten::copy_", Out(like), source, False, None)
    assert torch.equal(source.expand(2, 3), actual)

    index = Tensors((Planned(torch.tensor([0, 1])), Planned(torch.tensor([2, 0]))))
    actual = call("aten::index_put_", Out(like), index, torch.tensor([5.0, 6.0]), False, None)
    assert (actual[0, 2], actual[1, 0]) == (5.0, 6.0)


def test_refusals(call: Harness) -> None:
    """Indices that lead outside, shapes and types that do not fit."""
    a, i = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int64)
    wrong: list[tuple[str, tuple[Any, ...], str]] = [
        ("scatter.src_out", (a, 0, Planned(i + 2), a), "index-out-of-range"),
        ("scatter.src_out", (a, 0, Planned(i), a[:1]), "argument-shape"),
        ("scatter.src_out", (a, 2, Planned(i), a), "argument-value"),
        ("scatter.src_out", (a, 0, Planned(i), a.int()), "argument-scalar-type"),
        ("scatter.value_out", (a, 0, Planned(a), 1), "argument-scalar-type"),
        ("scatter_add.out", (a, 1, Planned(i - 4), a), "index-out-of-range"),
        ("index_put.out", (a, Tensors((Planned(i[0] + 2),)), a[0], False), "index-out-of-range"),
        ("index_put.out", (a, Tensors((Planned(i[0]),)), torch.zeros(2), False), "argument-shape"),
        ("index_put.out", (a, Tensors((None, None)), a, False), "argument-value"),
        ("select_scatter.out", (a, a[0], 0, 2), "argument-value"),
        ("select_scatter.out", (a, a, 0, 1), "argument-shape"),
        ("slice_scatter.out", (a, a, 0, 0, 1, 1), "argument-shape"),
        ("masked_scatter.out", (a, Planned(a == 0), a[0]), "index-out-of-range"),
        ("copy.out", (a, torch.zeros(3, 2), False), "argument-shape"),
    ]
    for name, arguments, code in wrong:
        with pytest.raises(KernelRefusedError, match=code):
            call(f"aten::{name}", *arguments, Out(a), Same())
