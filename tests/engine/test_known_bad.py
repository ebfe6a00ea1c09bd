"""Programs that meet upstream's known faults are told before they run on its engine; their neighbours are not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from bench.cli import app
from bench.engine import PREFIXES
from bench.errors import KnownBadKernelError
from bench.known_bad import _CONDITIONS, Fault, check, faults, find, isa_of
from bench.pte import read_pte
from tests.fuzz.corpus import program_of
from tests.kernels.harness import Out, Planned, Same, encode_call

VERSION = "1.5.1"


def images(*shape: int, explicit: bool = False) -> torch.Tensor:
    """Return int8 zeros, channels last; of the explicit layout, contiguous with the channels named last."""
    n, c, h, w = shape
    if explicit:
        return torch.zeros((n, h, w, c), dtype=torch.int8)
    return torch.zeros(shape, dtype=torch.int8).to(memory_format=torch.channels_last)


def per_channel(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return multipliers and shifts."""
    return torch.full((count,), 2**30, dtype=torch.int32), torch.zeros(count, dtype=torch.int32)


def biases(count: int) -> torch.Tensor:
    """Return a bias."""
    return torch.ones(count, dtype=torch.int32)


def transposed(stride: list[int], padding: list[int], filter_size: int = 4) -> bytes:
    """Return a program with a transposed convolution of 8 to 4 channels over 4x4."""
    out = [(4 - 1) * stride[i] - 2 * padding[i] + filter_size for i in range(2)]
    weights = torch.zeros(4, filter_size, filter_size, 8, dtype=torch.int8)
    call = encode_call(
        "cortex_m::quantized_transpose_conv2d.out", Planned(images(1, 8, 4, 4)), weights, biases(4), stride,
        padding, [0, 0], [1, 1], 0, 0, *per_channel(4), -128, 127, Planned(torch.zeros(64, dtype=torch.int8)),
        Planned(torch.zeros(64, dtype=torch.int8)), Out(images(1, 4, *out)), Same(),
    )  # fmt: skip
    return program_of(call)


def convolution(
    in_channels: int, depth: int, bias: torch.Tensor | None, *, explicit: bool = False
) -> bytes:
    """Return a program with a 1x1 convolution to 4 channels, of in_channels / depth groups."""
    name = f"cortex_m::quantized_conv2d{'_nhwc' if explicit else ''}.out"
    call = encode_call(
        name, Planned(images(1, in_channels, 3, 3, explicit=explicit)), torch.zeros(4, 1, 1, depth, dtype=torch.int8),
        bias, [1, 1], [0, 0], [1, 1], 0, 0, *per_channel(4), -128, 127, Planned(torch.zeros(16, dtype=torch.int8)),
        Out(images(1, 4, 3, 3, explicit=explicit)), Same(),
    )  # fmt: skip
    return program_of(call)


def depthwise(bias: torch.Tensor | None) -> bytes:
    """Return a program with a depthwise 1x1 convolution of 4 channels."""
    call = encode_call(
        "cortex_m::quantized_depthwise_conv2d.out", Planned(images(1, 4, 3, 3)),
        torch.zeros(1, 1, 1, 4, dtype=torch.int8), bias, [1, 1], [0, 0], [1, 1], 1, 0, 0, *per_channel(4), -128, 127,
        Planned(torch.zeros(16, dtype=torch.int8)), Out(images(1, 4, 3, 3)), Same(),
    )  # fmt: skip
    return program_of(call)


def linear(bias: torch.Tensor | None, kernel_sum: torch.Tensor | None) -> bytes:
    """Return a program with a linear layer of 8 to 4."""
    call = encode_call(
        "cortex_m::quantized_linear.out", Planned(torch.zeros(1, 8, dtype=torch.int8)),
        torch.zeros(4, 8, dtype=torch.int8), bias, kernel_sum, 0, 0, 0, [2**30], [0], 127, -128,
        Out(torch.zeros(1, 4, dtype=torch.int8)), Same(),
    )  # fmt: skip
    return program_of(call)


def pool(scratch: Any) -> bytes:
    """Return a program with an average over 2x2."""
    call = encode_call(
        "cortex_m::quantized_avg_pool2d.out", Planned(images(1, 4, 4, 4)), [2, 2], [2, 2], [0, 0], False, 0, 2**30, 1,
        *scratch, Out(images(1, 4, 2, 2)), Same(),
    )  # fmt: skip
    return program_of(call)


PLANNED = Planned(torch.zeros(64, dtype=torch.int8))
NOTHING = Planned(torch.zeros(0, dtype=torch.int8))
M4, M55, M0 = "cortex-m4", "cortex-m55", "cortex-m0plus"
# Program, cpu, the faults that it meets there.
CASES: dict[str, tuple[Any, str, list[str]]] = {
    # the layer of field case G06
    "padding": (lambda: transposed([2, 2], [1, 1]), M4, ["transposed-convolution-padding"]),
    "padding-m55": (lambda: transposed([2, 2], [1, 1]), M55, ["transposed-convolution-padding"]),
    "padding-multiple": (lambda: transposed([2, 2], [2, 2]), M4, []),
    "padding-none": (lambda: transposed([2, 2], [0, 0]), M4, []),
    "wide-stride": (lambda: transposed([1, 2], [0, 0], 1), M55, ["transposed-convolution-scratch"]),
    "wide-stride-wider-filter": (lambda: transposed([1, 2], [0, 0]), M55, []),
    "helium-linear-on-dsp": (lambda: linear(None, biases(4)), M4, ["linear-bias-other-isa"]),
    "helium-linear-on-scalar": (lambda: linear(None, biases(4)), M0, ["linear-bias-other-isa"]),
    "helium-linear-on-helium": (lambda: linear(None, biases(4)), M55, []),
    "dsp-linear-on-helium": (lambda: linear(biases(4), None), M55, ["linear-bias-other-isa-helium"]),
    "dsp-linear-on-dsp": (lambda: linear(biases(4), None), M4, []),
    "groups": (lambda: convolution(8, 4, None), M4, ["grouped-convolution-without-bias"]),
    "groups-nhwc": (lambda: convolution(8, 4, None, explicit=True), M55, ["grouped-convolution-without-bias"]),
    "groups-with-bias": (lambda: convolution(8, 4, biases(4)), M4, []),
    "one-group": (lambda: convolution(8, 8, None), M4, []),
    "one-group-nhwc": (lambda: convolution(8, 8, None, explicit=True), M4, []),
    "depthwise-on-helium": (lambda: depthwise(None), M55, ["depthwise-convolution-without-bias"]),
    "depthwise-on-dsp": (lambda: depthwise(None), M4, []),
    "pool-empty-scratch": (lambda: pool([NOTHING]), M4, ["average-pool-scratch"]),
    "pool-older-operator": (lambda: pool([]), M4, ["average-pool-scratch"]),
    "pool-scratch": (lambda: pool([PLANNED]), M4, []),
    "pool-on-helium": (lambda: pool([NOTHING]), M55, []),
}  # fmt: skip


@pytest.mark.parametrize(("make", "cpu", "expected"), CASES.values(), ids=CASES)
def test_program_meets_a_fault(make: Any, cpu: str, expected: list[str]) -> None:
    """Each fault is found in a program that has it, on the builds that have it, and nowhere else."""
    pte = make()
    read_pte(pte)

    found = find(pte, "forward", cpu, "executorch", VERSION)

    assert expected == [one.fault.id for one in found]


def test_the_labs_engine_has_none() -> None:
    """The list is upstream's: the lab's own engine runs the same program."""
    assert [] == find(transposed([2, 2], [1, 1]), "forward", M4, "lab", "1")


def test_refusal_names_fault_instruction_and_source() -> None:
    """What is wrong, where, what the report saw, its public source, and the way around."""
    pte = transposed([2, 2], [1, 1])

    with pytest.raises(KnownBadKernelError, match="transposed-convolution-padding") as error:
        check(pte, "forward", M4, "executorch", VERSION, "unet on mps2-an386")

    assert "instruction 0" in str(error.value)
    assert "https://github.com/ARM-software/CMSIS-NN/issues/230" in str(error.value)


@pytest.mark.toolchain
@pytest.mark.skipif(shutil.which("arm-none-eabi-g++") is None, reason="no arm-none-eabi-g++")
def test_a_run_is_refused_before_anything_boots(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`bench run --engine=executorch` of such a program ends with the fault; on the lab's engine it runs."""
    monkeypatch.setenv(PREFIXES, str(Path(__file__).parent / "stand_in"))
    program = tmp_path / "transposed.pte"
    program.write_bytes(transposed([2, 2], [1, 1]))
    command = ["run", str(program), "--board=mps2-an386"]

    done = CliRunner().invoke(app, [*command, "--engine=executorch"])

    assert isinstance(done.exception, KnownBadKernelError)
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0


@pytest.mark.parametrize(
    ("since", "before", "version", "expected"),
    [
        ("", "", "1.5.1", True),
        ("1.4", "", "1.3.9", False),
        ("1.4", "", "1.4.0", True),
        ("", "1.6", "1.5.1", True),
        ("", "1.6", "1.6.0", False),
        ("", "1.6", "1.10", False),
        ("", "1.6", "1.5.1+cpu", True),
    ],
)
def test_versions(since: str, before: str, version: str, *, expected: bool) -> None:
    """An entry holds from `since` on, until `before`."""
    fault = Fault("x", "executorch", (), ("dsp",), since, before, "no-bias", "", ())

    assert expected == fault.concerns("executorch", version, "dsp")


def test_list() -> None:
    """Every entry has an id of its own, a condition that exists, builds that exist and a public source."""
    listed = faults()

    assert len(listed) == len({fault.id for fault in listed})
    assert {fault.condition for fault in listed} == set(_CONDITIONS)
    assert {isa for fault in listed for isa in fault.isa} == {"scalar", "dsp", "mve"}
    assert all(source.startswith("https://github.com/") for f in listed for source in f.sources)
    assert all(fault.sources for fault in listed)


def test_builds() -> None:
    """Which of CMSIS-NN's builds a core has."""
    assert ["scalar", "dsp", "mve"] == [isa_of(cpu) for cpu in (M0, "cortex-m33", M55)]
