"""Kernels that move elements: exact for every type and layout."""

from __future__ import annotations

import pytest
import torch

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, KernelRefusedError, Out, Planned, Same

LAYOUTS = [torch.contiguous_format, torch.channels_last]
TYPES = [torch.int8, torch.float32, torch.int64]


def tensor(cases: Cases, *shape: int) -> torch.Tensor:
    """Return distinct numbers of some type; four dimensions in either layout."""
    count = torch.Size(shape).numel()
    values = (torch.randperm(count, generator=cases.torch) - count // 2).reshape(shape)
    values = values.to(cases.choice(TYPES))
    return values.to(memory_format=cases.choice(LAYOUTS)) if len(shape) == 4 else values


def shape_of_rank(cases: Cases, rank: int) -> list[int]:
    """Return sizes, ones among them."""
    return [cases.choice([1, 2, 3, 5]) for _ in range(rank)]


@pytest.mark.parametrize("seed", range(40))
def test_pad(call: Harness, seed: int) -> None:
    """Amounts are in memory order for what the exporter takes for channels last, else right-aligned."""
    cases = Cases(seed)
    rank = cases.choice([1, 2, 3, 4, 4, 4])
    values = cases.int8(*shape_of_rank(cases, rank))
    if rank == 4:
        values = values.to(memory_format=cases.choice(LAYOUTS))
    before, after = (
        [0] * (4 - rank) + [cases.integer(0, 2) for _ in range(rank)] for _ in range(2)
    )
    arguments = (before, after, cases.integer(-128, 127))
    expected = torch.ops.cortex_m.pad(values, *arguments)

    actual = call("cortex_m::pad.out", Planned(values), *arguments, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("name", ["cortex_m::transpose.out", "aten::permute_copy.out"])
@pytest.mark.parametrize("seed", range(30))
def test_permute(call: Harness, seed: int, name: str) -> None:
    """Any permutation of any layout, negative dimensions included."""
    cases = Cases(seed)
    rank = cases.integer(1, 5)
    values = tensor(cases, *shape_of_rank(cases, rank))
    order = list(range(rank))
    cases.random.shuffle(order)
    signed = [d - rank if cases.integer(0, 2) == 0 else d for d in order]
    expected = values.permute(order).contiguous()

    actual = call(name, Planned(values), signed, Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("operator", ["_clone_dim_order", "_to_dim_order_copy"])
@pytest.mark.parametrize("to", LAYOUTS, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_dim_order_copy(call: Harness, seed: int, to: torch.memory_format, operator: str) -> None:
    """The values stay, the layout becomes that of the out tensor; one channel or pixel included."""
    cases = Cases(seed)
    values = tensor(cases, *shape_of_rank(cases, 4))
    expected = values.to(memory_format=to)
    name = f"dim_order_ops::{operator}.out"

    actual = call(name, Planned(values), False, list(expected.dim_order()), Out(expected), Same())

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("seed", range(20))
def test_view(call: Harness, seed: int) -> None:
    """Elements keep their logical order, whatever the layouts are."""
    cases = Cases(seed)
    shape = shape_of_rank(cases, 4)
    values = tensor(cases, *shape)
    n, c, h, w = shape
    target = cases.choice([[n * c, h * w], [n, h, w, c], [n * c * h * w], [w, h, n, c]])
    expected = values.contiguous().reshape(target)
    if len(target) == 4:
        expected = expected.to(memory_format=cases.choice(LAYOUTS))

    actual = call("aten::view_copy.out", Planned(values), target, Out(expected), Same())

    assert torch.equal(expected, actual)


def test_squeeze_and_unsqueeze(call: Harness) -> None:
    """A dimension of size 1 comes and goes."""
    values = tensor(Cases(1), 2, 1, 3, 4)
    squeezed, unsqueezed = values.squeeze(1).contiguous(), values.unsqueeze(2).contiguous()

    actual = call("aten::squeeze_copy.dims_out", values, [1], Out(squeezed), Same())
    assert torch.equal(squeezed, actual)

    actual = call("aten::unsqueeze_copy.out", values, 2, Out(unsqueezed), Same())
    assert torch.equal(unsqueezed, actual)


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [
        ([3, 4], [4, 1], None),
        ([4, 3], [1, 4], 0),
        ([2, 2, 2], [5, 0, 1], 5),
        ([1, 12, 1, 1], [12, 1, 1, 1], 0),
    ],
)
def test_as_strided(
    call: Harness, sizes: list[int], strides: list[int], offset: int | None
) -> None:
    """Sizes, strides and offset select from the input's memory, overlapping if they say so."""
    values = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    expected = torch.as_strided(values, sizes, strides, offset).contiguous()

    actual = call(
        "aten::as_strided_copy.out", values, sizes, strides, offset, Out(expected), Same()
    )

    assert torch.equal(expected, actual)


@pytest.mark.parametrize(
    ("strides", "offset"), [([4, 1], 1), ([5, 1], 0), ([2**31 - 1, 1], 0), ([-1, 1], 3)]
)
def test_as_strided_stays_inside(call: Harness, strides: list[int], offset: int) -> None:
    """Strides that lead outside of the input are refused when the method is loaded."""
    values = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    out = Out(torch.empty(3, 4))

    with pytest.raises(KernelRefusedError, match="argument-value") as refused:
        call("aten::as_strided_copy.out", values, [3, 4], strides, offset, out, Same())
    assert refused.value.argument == 2


@pytest.mark.parametrize("seed", range(30))
def test_constant_pad(call: Harness, seed: int) -> None:
    """Any number of dimensions from the last on, any layout."""
    cases = Cases(seed)
    rank = cases.integer(1, 4)
    values = cases.floats(*shape_of_rank(cases, rank))
    if rank == 4:
        values = values.to(memory_format=cases.choice(LAYOUTS))
    amounts = [cases.integer(0, 2) for _ in range(2 * cases.integer(0, rank))]
    value = cases.choice([0.0, -1.5, 2])
    expected = torch.ops.aten.constant_pad_nd(values, amounts, value)
    if rank == 4:
        expected = expected.to(memory_format=cases.choice(LAYOUTS))

    actual = call(
        "aten::constant_pad_nd.out", Planned(values), amounts, value, Out(expected), Same()
    )

    assert torch.equal(expected, actual)
