"""Expected outputs are what devices compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import _compute_softmax_params
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.export.oracle import (
    AVG_POOL_CORRECTION,
    DILATION_CORRECTION,
    SOFTMAX_CORRECTION,
    avg_pool2d_integers,
    without_dilation,
)
from bench.export.programs import ProgramFiles
from bench.export.softmax_integers import softmax_integers
from tests.export.pte_reference import PteReference

VECTORS = ("autoencoder", "ds_cnn", "linear", "mobilenet_v1_025", "resnet8", "transformer_block")
CPUS = ("cortex-m4", "cortex-m55")


def on_device(upstream: Path, stem: str) -> tuple[bytes, bytes, np.ndarray]:
    """Return a program, its input, and what upstream's runtime made of it on the emulated device."""
    parts = [(upstream / f"{stem}.{kind}").read_bytes() for kind in ("pte", "in.bin", "out.bin")]
    return parts[0], parts[1], np.frombuffer(parts[2], "<f4")


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("model", VECTORS)
def test_corrected_operators_give_upstreams_device_outputs(
    upstream: Path, model: str, cpu: str
) -> None:
    """ExecuTorch's Python operators with the correction equal upstream's device outputs in every element."""
    pte, data, expected = on_device(upstream, f"{model}_{cpu}")

    actual = np.frombuffer(PteReference(pte).run(data)[0], "<f4")

    assert np.array_equal(expected, actual)


@pytest.mark.parametrize("cpu", CPUS)
def test_uncorrected_average_pool_is_not_the_devices(upstream: Path, cpu: str) -> None:
    """Without the correction ResNet8 differs in 2 of 10 outputs, which is why there is one."""
    pte, data, expected = on_device(upstream, f"resnet8_{cpu}")

    actual = np.frombuffer(PteReference(pte, corrected=False).run(data)[0], "<f4")

    assert np.count_nonzero(expected != actual) == 2


@pytest.mark.parametrize("scheme", ["int8", "fp32"])
@pytest.mark.parametrize("model", ["digits_cnn", "ds_cnn", "linear", "resnet8"])
def test_programs_mean_what_the_oracle_says(
    zoo: Callable[..., dict[str, ProgramFiles]], model: str, scheme: str
) -> None:
    """Run from its bytes, over its memory plan, a program gives the host reference of its first sample."""
    for made in zoo(model, scheme).values():
        sample = made.files["input_0.bin"][: made.manifest.inputs[0].nbytes]

        output = PteReference(made.files["program.pte"]).run(sample)[0]

        expected = np.frombuffer(made.files["host_int8_0.bin"][: len(output)], "<f4")
        actual = np.frombuffer(output, "<f4")
        if scheme == "int8":
            assert np.array_equal(expected, actual)
        else:  # sums of float depend on the order that torch picks for a layout
            np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_correction_is_named(zoo: Callable[..., dict[str, ProgramFiles]]) -> None:
    """The manifest names the oracle, and the correction where it had a part."""
    with_pool = zoo("resnet8")["cortex-m4"].manifest.oracle
    without = zoo("linear")["cortex-m4"].manifest.oracle

    assert with_pool.name == "executorch-1.5.1-python-operators"
    assert with_pool.corrections == (AVG_POOL_CORRECTION,)
    assert without.corrections == ()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_average_pool_follows_cmsis_nn(data: st.DataObject) -> None:
    """The vectorised form equals arm_avgpool_s8 written out, padding, ceil_mode and ties included."""
    kernel = [data.draw(st.integers(1, 4)) for _ in range(2)]
    stride = [data.draw(st.integers(1, 3)) for _ in range(2)]
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    sizes = [data.draw(st.integers(k, 7)) for k in kernel]
    seed = data.draw(st.integers(0, 999))
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(-128, 128, (1, 2, *sizes), generator=generator, dtype=torch.int8)

    actual = avg_pool2d_integers(values, kernel, stride, padding, ceil_mode=False)

    for channel in range(2):
        for i in range(actual.shape[2]):
            for j in range(actual.shape[3]):
                top, left = i * stride[0] - padding[0], j * stride[1] - padding[1]
                window = values[
                    0,
                    channel,
                    max(top, 0) : top + kernel[0],
                    max(left, 0) : left + kernel[1],
                ]
                total, count = int(window.sum()), window.numel()
                total += count // 2 if total > 0 else -(count // 2)
                expected = abs(total) // count * (1 if total > 0 else -1)
                assert expected == int(actual[0, channel, i, j])


@pytest.mark.parametrize("dilation", [[1, 1], [2, 1], [1, 3], [3, 2]])
def test_kernels_without_dilation_give_the_same_sums(dilation: list[int]) -> None:
    """Torch's own dilated convolution, exact in float64, of the kernel as it was."""
    torch.manual_seed(0)
    values = torch.randint(-128, 128, (1, 4, 11, 12)).double()
    weight = torch.randint(-127, 128, (6, 3, 2, 4)).double()  # OHWI
    expected = torch.nn.functional.conv2d(
        values, weight.permute(0, 3, 1, 2), stride=2, padding=1, dilation=dilation
    )

    wide, rest = without_dilation(weight, dilation)
    actual = torch.nn.functional.conv2d(
        values, wide.permute(0, 3, 1, 2), stride=2, padding=1, dilation=rest
    )

    assert torch.equal(expected, actual)


@pytest.mark.parametrize("groups", [1, 4])
def test_dilated_convolutions_have_a_reference(
    export_one: Callable[..., ProgramFiles], groups: int
) -> None:
    """ExecuTorch's Python operator cannot run them; the way around is named."""
    module = torch.nn.Conv2d(4, 4, 3, dilation=2, groups=groups)
    manifest = export_one(module, torch.randn(1, 4, 9, 9)).manifest

    assert manifest.int8_mac_fraction == 1.0
    assert manifest.expect_host_int8
    assert manifest.oracle.corrections == (DILATION_CORRECTION,)


def test_softmax_correction_is_named(export_one: Callable[..., ProgramFiles]) -> None:
    """A program with an int8 softmax says that its oracle computes it in integers."""
    made = export_one(torch.nn.Softmax(-1), torch.randn(4, 8))

    assert made.manifest.oracle.corrections == (SOFTMAX_CORRECTION,)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-128, 127), min_size=1, max_size=40),
    st.floats(-9.0, 1.0, allow_nan=False),
)
def test_integer_softmax_is_near_the_exact_one(row: list[int], log_scale: float) -> None:
    """The integers give the exact probabilities within a step and a half; upstream's vectors agree with both forms."""
    scale = math.exp(log_scale)
    values = torch.tensor([row], dtype=torch.int8)

    actual = softmax_integers(values, 1, *_compute_softmax_params(scale))

    exact = (torch.softmax(values.double() * scale, 1) * 256 - 128).clamp(max=127)
    assert float((exact - actual).abs().max()) < 1.5
