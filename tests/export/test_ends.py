"""int8 ends, and programs of several methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from bench.errors import UnknownNameError
from bench.export.programs import ProgramFiles
from bench.model import ModelDefinition
from bench.program import Manifest
from tests.export.conftest import export_all
from tests.export.pte_reference import PteReference

ExportOne = Callable[..., ProgramFiles]
CPU = "cortex-m4"


class TwoEnds(nn.Module):
    """An image and a vector in, a vector and an image out."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = nn.Conv2d(2, 4, 3, padding=1), nn.Linear(6, 5)

    def forward(self, image: torch.Tensor, vector: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the vector's part first."""
        return self.linear(vector), torch.relu(self.conv(image))


def of_codes(manifest: Manifest, *codes: str) -> list[tuple[str, str]]:
    """Return code and node of the findings of some codes."""
    return [(f.code, f.node) for f in manifest.findings if f.code in codes]


def two_ends() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Return the model and one inference's inputs."""
    torch.manual_seed(3)
    return TwoEnds(), torch.randn(1, 2, 5, 5), torch.randn(1, 6)


def test_int8_ends_are_the_float_programs_ends_in_steps(export_one: ExportOne) -> None:
    """No quantization is left; every int8 output is (float output) / scale + zero point of the int8 program."""
    plain, ends = (export_one(*two_ends(), scheme=scheme) for scheme in ("int8", "int8-ends"))

    gone = {"cortex_m::quantize_per_tensor.out", "cortex_m::dequantize_per_tensor.out"}
    assert [o.operator for o in plain.manifest.operators if o.operator not in gone] == [
        o.operator for o in ends.manifest.operators
    ]
    assert ["float32", "float32"] == [info.dtype for info in plain.manifest.outputs]
    for index, info in enumerate(ends.manifest.outputs):
        floats = np.frombuffer(plain.files[f"host_int8_{index}.bin"], np.float32)
        steps = np.frombuffer(ends.files[f"host_int8_{index}.bin"], np.int8)
        assert info.dtype == "int8"
        assert (info.scale, info.nbytes) == (plain.manifest.output_step[index], floats.size)
        np.testing.assert_array_equal(steps, np.rint(floats / info.scale) + info.zero_point)
        assert plain.files[f"float_{index}.bin"] == ends.files[f"float_{index}.bin"]


def test_int8_ends_take_quantized_inputs(export_one: ExportOne) -> None:
    """Sample inputs are rounded to steps, bounded, in the program's layout; what the user must do is a finding."""
    plain, ends = (export_one(*two_ends(), scheme=scheme) for scheme in ("int8", "int8-ends"))

    for index, info in enumerate(ends.manifest.inputs):
        floats = np.frombuffer(plain.files[f"input_{index}.bin"], np.float32)
        steps = np.rint(floats / np.float32(info.scale)) + info.zero_point
        given = np.frombuffer(ends.files[f"input_{index}.bin"], np.int8)
        assert info.dim_order == plain.manifest.inputs[index].dim_order
        assert np.abs(np.clip(steps, -128, 127) - given).max() <= 1  # a tie may fall otherwise
        assert (np.clip(steps, -128, 127) == given).mean() > 0.9
    assert [
        ("int8-end", f"{kind} {i}") for kind in ("input", "output") for i in (0, 1)
    ] == of_codes(ends.manifest, "int8-end", "float-end")


def test_int8_ends_run_from_their_bytes(export_one: ExportOne) -> None:
    """Run over its memory plan by ExecuTorch's operators, the program gives the host reference."""
    made = export_one(*two_ends(), scheme="int8-ends")

    outputs = PteReference(made.files["program.pte"]).run(
        made.files["input_0.bin"], made.files["input_1.bin"]
    )

    assert [made.files["host_int8_0.bin"], made.files["host_int8_1.bin"]] == outputs


class Mixed(nn.Module):
    """One input of a quantized layer, one of a float operator, one that nothing uses, one of integers."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.table = nn.Linear(6, 6), nn.Embedding(9, 6)

    def forward(
        self, x: torch.Tensor, y: torch.Tensor, unused: torch.Tensor, index: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return a quantized result, a float one, and integers."""
        del unused
        return self.linear(x), torch.sin(y) + self.table(index), index + 1


def test_each_end_says_what_it_is(export_one: ExportOne) -> None:
    """Ends of float operators are int8 too; what nothing uses stays float and says so; integers are none of it."""
    given = (torch.randn(1, 6), torch.randn(1, 6), torch.randn(1, 2), torch.tensor([4]))
    manifest = export_one(Mixed(), *given, scheme="int8-ends").manifest

    assert ["int8", "int8", "float32", "int64"] == [info.dtype for info in manifest.inputs]
    assert ["int8", "int8", "int64"] == [info.dtype for info in manifest.outputs]
    assert [
        ("int8-end", "input 0"),
        ("int8-end", "input 1"),
        ("float-end", "input 2"),
        ("int8-end", "output 0"),
        ("int8-end", "output 1"),
    ] == of_codes(manifest, "int8-end", "float-end")
    told = {f.node: f.message for f in manifest.findings if f.code.endswith("-end")}
    scale, zero_point = manifest.inputs[0].scale, manifest.inputs[0].zero_point
    assert f"(q {-zero_point:+d}) * {scale!r}" in told["input 0"]
    assert "it goes to nothing" in told["input 2"]


def encoder_decoder() -> ModelDefinition:
    """Return a program of three methods, two of which share a layer."""
    torch.manual_seed(5)
    shared = nn.Linear(8, 8)
    encoder, decoder = (
        nn.Sequential(nn.Linear(4, 8), shared),
        nn.Sequential(shared, nn.Linear(8, 3)),
    )
    both = nn.Sequential(encoder, decoder)
    return ModelDefinition(
        both.eval(),
        (torch.randn(1, 4),),
        methods={
            "encode": ModelDefinition(encoder.eval(), (torch.randn(1, 4),)),
            "decode": ModelDefinition(decoder.eval(), (torch.randn(1, 8),)),
        },
    )


@pytest.mark.parametrize("scheme", ["int8", "fp32"])
def test_methods_are_in_one_program(scheme: str) -> None:
    """The same bytes whichever method runs; shapes, samples and expected outputs are the chosen method's."""
    definition = encoder_decoder()
    made = {
        method: export_all("m", definition, scheme, (CPU,), method)[CPU]
        for method in ("forward", "encode", "decode")
    }

    shapes = {name: one.manifest.outputs[0].shape for name, one in made.items()}
    assert {"forward": (1, 3), "encode": (1, 8), "decode": (1, 3)} == shapes
    for name, one in made.items():
        module = (definition if name == "forward" else definition.methods[name]).module
        values = np.frombuffer(one.files["input_0.bin"], np.float32).copy()
        expected = module(torch.from_numpy(values)).detach().numpy()
        host = np.frombuffer(one.files["host_int8_0.bin"], np.float32)
        tolerance = 1e-5 if scheme == "fp32" else 0.1
        np.testing.assert_allclose(host, expected, atol=tolerance)
        plans = PteReference(one.files["program.pte"]).program.execution_plan
        assert {"forward", "encode", "decode", "lab_cpu"} == {plan.name for plan in plans}


def test_an_unknown_method_is_named() -> None:
    """With the methods that there are."""
    with pytest.raises(UnknownNameError, match="no method 'encod'") as caught:
        export_all("m", encoder_decoder(), "fp32", (CPU,), "encod")

    assert "encode" in caught.value.hint
