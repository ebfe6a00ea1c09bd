"""float32 kernels against torch.

Elementwise kernels and pools of maxima are exact. Sums are compared with torch in float64: the error is at most
2^-20 (8 units in the last place of 1.0) of the sum of the terms' magnitudes. float32 addition in any order stays
within that for the lengths here; a wrong or missing term does not.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name

from tests.kernels.cases import Cases
from tests.kernels.harness import Harness, Out, Planned, Same
from tests.kernels.test_int8_convolution import geometry

LAYOUTS = [torch.contiguous_format, torch.channels_last]
SUM_TOLERANCE = 2.0**-20


def image(cases: Cases, *shape: int) -> torch.Tensor:
    """Return a float image in either layout."""
    return cases.floats(*shape).to(memory_format=cases.choice(LAYOUTS))


def assert_sums(actual: torch.Tensor, exact: torch.Tensor, magnitude: torch.Tensor) -> None:
    """Compare with float64 results, relative to the sum of the terms' magnitudes."""
    error = (actual.to(torch.float64) - exact).abs()
    assert bool((error <= SUM_TOLERANCE * magnitude + 1e-30).all()), f"largest error {error.max()}"


@pytest.mark.parametrize("seed", range(60))
def test_convolution(call: Harness, seed: int) -> None:
    """Any channels, groups, window and layouts, with and without bias."""
    cases = Cases(seed)
    kernel, stride, padding, dilation, size = geometry(cases)
    groups = cases.choice([1, 1, 2, 3])
    depth = cases.integer(1, 8)
    outputs = groups * cases.integer(1, 5)
    values = image(cases, cases.integer(1, 2), groups * depth, *size)
    weight = image(cases, outputs, depth, *kernel)
    bias = cases.choice([None, cases.floats(outputs)])
    options = (stride, padding, dilation, False, [0, 0], groups)

    def reference(*, magnitude: bool) -> torch.Tensor:
        operands = (None if t is None else t.to(torch.float64) for t in (values, weight, bias))
        operands = (t.abs() if magnitude and t is not None else t for t in operands)
        return torch.ops.aten.convolution(*operands, *options)

    exact = reference(magnitude=False)
    like = torch.empty(exact.shape).to(memory_format=cases.choice(LAYOUTS))

    actual = call(
        "aten::convolution.out", Planned(values), weight, bias, *options, Out(like), Same()
    )

    assert_sums(actual, exact, reference(magnitude=True))


@pytest.mark.parametrize("seed", range(20))
def test_mm_addmm_and_linear(call: Harness, seed: int) -> None:
    """Matrices of any size; addmm scales both terms and broadcasts its first."""
    cases = Cases(seed)
    rows, depth, columns = (cases.integer(1, n) for n in (5, 100, 9))
    a, b = cases.floats(rows, depth), cases.floats(depth, columns)
    like = torch.empty(rows, columns)
    product, magnitude = a.double() @ b.double(), a.double().abs() @ b.double().abs()

    assert_sums(call("aten::mm.out", Planned(a), b, Out(like), Same()), product, magnitude)

    first = cases.choice(
        [cases.floats(columns), cases.floats(rows, 1), cases.floats(rows, columns)]
    )
    beta, alpha = cases.choice([(1, 1), (0.5, 2.0), (0, 1)])
    actual = call("aten::addmm.out", first, Planned(a), b, beta, alpha, Out(like), Same())
    assert_sums(actual, beta * first + alpha * product, beta * first.abs() + alpha * magnitude)

    bias = cases.choice([None, cases.floats(columns)])
    weight = b.T.contiguous()
    added = 0 if bias is None else bias.double()
    actual = call("aten::linear.out", Planned(a), weight, bias, Out(like), Same())
    assert_sums(actual, product + added, magnitude + abs(added))


@pytest.mark.parametrize("seed", range(20))
def test_elementwise_of_one(call: Harness, seed: int) -> None:
    """ReLU, hardtanh and clamp are exact, of either layout; integer bounds and missing ones are taken."""
    cases = Cases(seed)
    values = image(cases, 2, cases.integer(1, 4), cases.integer(1, 5), 3) * 3
    like = torch.empty_like(values)
    out = (Out(like), Same())

    assert torch.equal(F.relu(values), call("aten::relu.out", Planned(values), *out))
    assert torch.equal(F.relu6(values), call("aten::hardtanh.out", Planned(values), 0, 6, *out))
    for low, high in [(-0.5, 1.25), (None, 1.0), (0, None), (2.0, -2.0)]:
        actual = call("aten::clamp.out", Planned(values), low, high, *out)
        assert torch.equal(torch.clamp(values, low, high), actual)


@pytest.mark.parametrize("seed", range(30))
def test_elementwise_of_two(call: Harness, seed: int) -> None:
    """Sums, differences and products are exact, broadcast, of mixed layouts, with a factor."""
    cases = Cases(seed)
    shape = [cases.integer(1, 3), cases.integer(1, 4), cases.integer(1, 5), cases.integer(1, 5)]
    a = image(cases, *shape)
    b = cases.choice(
        [
            image(cases, *shape),
            cases.floats(shape[1], 1, 1),
            cases.floats(1, shape[1], 1, 1),
            cases.floats(),
            cases.floats(shape[3]),
        ]
    )
    a, b = cases.choice([(a, b), (b, a)])
    alpha = cases.choice([1, 1, 0.5, -2])
    like = torch.empty(torch.broadcast_shapes(a.shape, b.shape)).to(
        memory_format=cases.choice(LAYOUTS)
    )
    out = (Out(like), Same())

    # The factors are powers of two: their products are exact, whether torch fuses the addition or not.
    assert torch.equal(a + alpha * b, call("aten::add.out", a, b, alpha, *out))
    assert torch.equal(a - alpha * b, call("aten::sub.out", a, b, alpha, *out))
    assert torch.equal(a * b, call("aten::mul.out", a, b, *out))


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("dims", [[2, 3], [-1, -2], [1], [0, 1, 2, 3], None, [0, 3]], ids=str)
def test_mean(call: Harness, dims: list[int] | None, *, keep: bool) -> None:
    """Any set of dimensions, kept or not, of either layout."""
    cases = Cases(3)
    for _ in range(4):
        values = image(cases, 2, cases.integer(1, 4), cases.integer(1, 9), 3)
        exact = torch.mean(values.double(), dims, keepdim=keep)
        magnitude = torch.mean(values.double().abs(), dims, keepdim=keep)
        like = torch.empty(exact.shape)

        actual = call("aten::mean.out", Planned(values), dims, keep, None, Out(like), Same())

        assert_sums(actual, exact, magnitude)


@pytest.mark.parametrize("seed", range(40))
def test_avg_pool2d(call: Harness, seed: int) -> None:
    """Any window, padding counted or not, sizes rounded up or not, own divisor, either layout."""
    cases = Cases(seed)
    kernel = [cases.integer(1, 4) for _ in range(2)]
    padding = [cases.integer(0, k // 2) for k in kernel]
    stride = cases.choice([[], [cases.integer(1, 3), cases.integer(1, 3)]])
    size = [k + cases.integer(0, 6) for k in kernel]
    values = image(cases, cases.integer(1, 2), cases.integer(1, 3), *size)
    options = (
        kernel,
        stride,
        padding,
        cases.choice([False, True]),
        cases.choice([False, True]),
        cases.choice([None, 3]),
    )
    exact = torch.ops.aten.avg_pool2d(values.double(), *options)
    magnitude = torch.ops.aten.avg_pool2d(values.double().abs(), *options)
    like = torch.empty(exact.shape).to(memory_format=cases.choice(LAYOUTS))

    actual = call("aten::avg_pool2d.out", Planned(values), *options, Out(like), Same())

    assert_sums(actual, exact, magnitude)


@pytest.mark.parametrize("seed", range(40))
def test_max_pool2d(call: Harness, seed: int) -> None:
    """Values and indices are torch's, for any window, dilation and layout."""
    cases = Cases(seed)
    kernel = [cases.integer(1, 4) for _ in range(2)]
    dilation = [cases.choice([1, 1, 2]) for _ in range(2)]
    padding = [cases.integer(0, k // 2) for k in kernel]
    stride = cases.choice([[], [cases.integer(1, 3), cases.integer(1, 3)]])
    size = [d * (k - 1) + 1 + cases.integer(0, 6) for k, d in zip(kernel, dilation, strict=True)]
    values = image(cases, cases.integer(1, 2), cases.integer(1, 3), *size)
    options = (kernel, stride, padding, dilation, cases.choice([False, True]))
    expected, indices = torch.ops.aten.max_pool2d_with_indices(values, *options)

    outs = call.all_outs(
        "aten::max_pool2d_with_indices.out",
        Planned(values),
        *options,
        Out(expected),
        Out(indices),
        None,
    )

    assert torch.equal(expected, outs[0])
    assert torch.equal(indices, outs[1])


@pytest.mark.parametrize("seed", range(20))
def test_batch_norm(call: Harness, seed: int) -> None:
    """Scaled and shifted a channel, with and without weight and bias, for images and vectors."""
    cases = Cases(seed)
    channels = cases.integer(1, 6)
    values = cases.choice([image(cases, 2, channels, 3, 4), cases.floats(3, channels)])
    weight, bias = (cases.choice([None, cases.floats(channels)]) for _ in range(2))
    mean, variance = cases.floats(channels), cases.floats(channels).abs()
    parameters = (weight, bias, mean, variance)
    expected = torch.ops.aten._native_batch_norm_legit_no_training(values, *parameters, 0.1, 1e-5)[
        0
    ]
    empty = Out(torch.empty(0))

    actual = call(
        "aten::_native_batch_norm_legit_no_training.out",
        *(
            Planned(values),
            *parameters,
            0.1,
            1e-5,
            Out(torch.empty_like(values)),
            empty,
            empty,
            None,
        ),
    )

    # Near a root of the line both terms cancel: compare with their size.
    scale = (1.0 if weight is None else weight.abs()) / torch.sqrt(variance + 1e-5)
    size = (values.abs().amax() + mean.abs()) * scale + (0.0 if bias is None else bias.abs())
    view = [1, channels] + [1] * (values.dim() - 2)
    error = (expected - actual).abs()
    assert bool((error <= SUM_TOLERANCE * size.reshape(view)).all())


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(call: Harness, dim: int) -> None:
    """Probabilities along any dimension are torch's within 2^-20, also for large numbers."""
    values = Cases(4).floats(3, 5, 7) * 40
    expected = torch.softmax(values.double(), dim)

    actual = call("aten::_softmax.out", Planned(values), dim, False, Out(values), Same())

    assert float((expected - actual).abs().max()) <= SUM_TOLERANCE


def test_nan_passes_through(call: Harness) -> None:
    """NaN is not taken for a number: ReLU, clamp and maximum keep it, as torch does."""
    values = torch.tensor([[[[torch.nan, 1.0], [2.0, -3.0]]]])
    out = (Out(values), Same())
    pooled, indices = torch.ops.aten.max_pool2d_with_indices(values, [2, 2])

    actual = call.all_outs(
        "aten::max_pool2d_with_indices.out",
        *(values, [2, 2], [], [0, 0], [1, 1], False, Out(pooled), Out(indices), None),
    )

    assert bool(torch.isnan(actual[0]).all())
    assert torch.equal(indices, actual[1])
    assert torch.equal(torch.isnan(values), torch.isnan(call("aten::relu.out", values, *out)))
    assert torch.equal(
        torch.isnan(values), torch.isnan(call("aten::clamp.out", values, 0, 1, *out))
    )
