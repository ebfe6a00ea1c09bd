"""What the fuzz target found: arguments that fit by themselves, and whose arithmetic did not (docs/robustness.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.kernels.harness import Harness, KernelRefusedError, Out, Same


@pytest.mark.parametrize(("number", "expected"), [(300.0, 44), (-129.0, 127), (300, 44)])
def test_number_too_wide_for_a_filled_type_wraps(
    call: Harness, number: float, expected: int
) -> None:
    """A double was converted straight to int8, which is undefined beyond its range; as an integer it wraps."""
    like = torch.empty(3, dtype=torch.int8)

    filled = call("aten::full.out", [3], number, Out(like), Same())

    assert [expected] * 3 == filled.tolist()


def test_any_number_fills_a_bool(call: Harness) -> None:
    """A double beyond every integer is true."""
    like = torch.empty(2, dtype=torch.bool)

    assert [True] * 2 == call("aten::full.out", [2], 3e38, Out(like), Same()).tolist()


def test_scale_that_is_infinite_as_float_is_refused(call: Harness) -> None:
    """1e300 is finite as a double; times a quotient of 0 it gave no number, which no integer holds."""
    zeros = torch.zeros(4, dtype=torch.int8)

    with pytest.raises(KernelRefusedError, match="argument-value") as refused:
        call("cortex_m::quantized_div.out", zeros, 0, zeros, 1, 0, 1e300, Out(zeros), Same())
    assert refused.value.argument == 5


def test_step_beyond_a_single_part(call: Harness) -> None:
    """The step to a second index that is not there may be any number: it overflowed when multiplied."""
    rows = torch.arange(12, dtype=torch.int32).reshape(4, 3)
    expected = rows[1:2]

    part = call("aten::slice_copy.Tensor_out", rows, 0, 1, 2, 2**31 - 1, Out(expected), Same())

    assert torch.equal(expected, part)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("start", [1e300, -1e300])
def test_range_beyond_an_integer_is_refused(
    call: Harness, start: float, dtype: torch.dtype
) -> None:
    """A range of numbers that the tensor's integers cannot hold."""
    like = torch.empty(1, dtype=dtype)

    with pytest.raises(KernelRefusedError, match="argument-value"):
        call("aten::arange.start_out", start, 2 * start, start, Out(like), Same())


@pytest.mark.parametrize("name", ["aten::empty.out", "dim_order_ops::_empty_dim_order.out"])
def test_empty_says_the_shape_of_its_out(call: Harness, name: str) -> None:
    """Nothing is promised of the elements; another shape is refused."""
    like = torch.empty(2, 3)
    assert torch.Size([2, 3]) == call(name, [2, 3], None, Out(like), Same()).shape

    with pytest.raises(KernelRefusedError, match="argument-shape"):
        call(name, [3, 2], None, Out(like), Same())


@pytest.mark.parametrize("unbiased", [False, True])
def test_variance_by_a_flag(call: Harness, *, unbiased: bool) -> None:
    """The overload with a flag for the correction of 1."""
    values = torch.arange(24, dtype=torch.float32).reshape(4, 6).square()
    expected = torch.var(values, dim=1, unbiased=unbiased)

    actual = call("aten::var.out", values, [1], unbiased, False, Out(expected), Same())

    torch.testing.assert_close(expected, actual)


@pytest.mark.parametrize(
    ("name", "function"),
    [("lshift", torch.bitwise_left_shift), ("rshift", torch.bitwise_right_shift)],
)
def test_shifts_by_their_other_names(
    call: Harness, name: str, function: Callable[..., torch.Tensor]
) -> None:
    """The operators of Python's << and >>, which no other test called: a kernel without a call has no seed."""
    a, b = torch.arange(6, dtype=torch.int32), torch.tensor([0, 1, 2, 3, 1, 0], dtype=torch.int32)

    by_tensor = call(f"aten::__{name}__.Tensor_out", a, b, Out(a), Same())
    by_number = call(f"aten::__{name}__.Scalar_out", a, 2, Out(a), Same())

    assert torch.equal(function(a, b), by_tensor)
    assert torch.equal(function(a, 2), by_number)
