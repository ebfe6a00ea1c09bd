"""Cases that went wrong for others, with what the export must say of them (G and S: names of the case list)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from bench.errors import ExportError, ModelSourceError
from bench.export.prepare import prepare
from bench.export.programs import ProgramFiles
from bench.export.report import find_plan, read_program
from bench.model import ModelDefinition
from bench.program import Finding, Manifest

ExportOne = Callable[..., ProgramFiles]


class Forward(nn.Module):
    """A module whose forward is a function of its parts and inputs."""

    def __init__(self, function: Callable[..., object], *parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(parts)

    def forward(self, *inputs: torch.Tensor) -> object:
        """Call the function."""
        return self.function(self.parts, *inputs)


def of_code(manifest: Manifest, code: str) -> list[Finding]:
    """Return the findings of one code."""
    return [f for f in manifest.findings if f.code == code]


def operators(manifest: Manifest) -> list[str]:
    """Return the program's operators in order."""
    return [o.operator for o in manifest.operators]


def small_cnn() -> nn.Module:
    """Return the image model of G01."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU6(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )


def test_g01_nchw_inputs_are_relaid(export_one: ExportOne) -> None:
    """G01: an NCHW example gives the channels-last program (no float convolution, 15,360 B), and is reported."""
    manifest = export_one(small_cnn(), torch.randn(1, 3, 32, 32)).manifest
    given = torch.randn(1, 3, 32, 32).to(memory_format=torch.channels_last)
    reference = export_one(small_cnn(), given).manifest

    assert "aten::convolution.out" not in operators(manifest)
    assert 15_360 == manifest.planned_bytes == reference.planned_bytes
    assert manifest.inputs[0].dim_order == (0, 2, 3, 1)
    assert (
        len(of_code(manifest, "input-relayout")),
        len(of_code(reference, "input-relayout")),
    ) == (1, 0)


@pytest.mark.parametrize("scheme", ["int8", "fp32"])
def test_g01_one_channel(export_one: ExportOne, scheme: str) -> None:
    """G01 with C = 1, whose strides fit both layouts: int8 convolution, and the dim order of images."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU())
    manifest = export_one(module, torch.randn(1, 1, 12, 10), scheme=scheme).manifest

    assert (0, 2, 3, 1) == manifest.inputs[0].dim_order == manifest.outputs[0].dim_order
    assert (1.0 if scheme == "int8" else 0.0) == manifest.int8_mac_fraction


def test_g01_float_programs_have_layouts_that_kernels_know(export_one: ExportOne) -> None:
    """G01 in float: every image and weight of the program is contiguous or channels last, C = 1 included."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, groups=4), nn.Conv2d(4, 1, 1))
    pte = export_one(module, torch.randn(1, 1, 12, 10), scheme="fp32").files["program.pte"]
    values = [v.val for v in find_plan(read_program(pte), "forward").values]
    orders = {tuple(v.dim_order) for v in values if len(getattr(v, "sizes", ())) == 4}

    assert {(0, 1, 2, 3), (0, 2, 3, 1)} >= orders


def test_g01_attention_heads_are_no_images(export_one: ExportOne) -> None:
    """Rank 4 inputs of a model without convolutions stay as they are."""
    module = Forward(lambda _, x: x.softmax(-1))
    manifest = export_one(module, torch.randn(1, 2, 8, 8)).manifest

    assert manifest.inputs[0].dim_order == (0, 1, 2, 3)
    assert of_code(manifest, "input-relayout") == []


def test_g01_model_that_refuses_channels_last(export_one: ExportOne) -> None:
    """A .view() that channels last forbids is named; the model is exported as it is."""
    module = Forward(lambda m, x: m[1](m[0](x).view(1, -1)), nn.Conv2d(3, 4, 3), nn.Linear(144, 2))
    manifest = export_one(module, torch.randn(1, 3, 8, 8)).manifest

    assert ".reshape()" in of_code(manifest, "input-relayout")[0].message
    assert manifest.int8_mac_fraction < 1


def test_g02_missing_kernels_can_be_seen(export_one: ExportOne) -> None:
    """G02: an operator beyond CMSIS-NN is in the operator list, with its layer, and reported as float."""
    module = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.LeakyReLU(0.1))
    manifest = export_one(module, torch.randn(1, 4, 8, 8)).manifest
    float_nodes = [o for o in manifest.operators if o.kind == "float"]

    assert [(o.operator, o.layer) for o in float_nodes] == [("aten::leaky_relu.out", "1")]
    assert "no pattern for aten.leaky_relu.default" in of_code(manifest, "float-node")[0].message


def test_g02_decomposed_operator_is_one_finding(export_one: ExportOne) -> None:
    """G02: Mish becomes six operators of one layer; the finding names them all at once."""
    module = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.Mish())
    manifest = export_one(module, torch.randn(1, 4, 8, 8)).manifest
    (finding,) = of_code(manifest, "float-node")

    needed = ("exp.out", "log1p.out", "gt.Scalar_out", "where.self_out", "tanh.out", "mul.out")
    assert all(f"aten::{name}" in finding.message for name in needed)


def test_g03_no_host_reference_is_no_failure(export_one: ExportOne) -> None:
    """G03: a pool that Python cannot run gives a program without host reference, and names the operator."""
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)
    )
    made = export_one(module, torch.randn(1, 3, 32, 32))
    (finding,) = of_code(made.manifest, "no-host-reference")

    assert "max_pool2d_with_indices" in finding.node
    assert not made.manifest.expect_host_int8
    assert "host_int8_0.bin" not in made.files
    assert "float_0.bin" in made.files
    assert of_code(made.manifest, "portable-node")


def test_g04_softmax_over_another_dimension(export_one: ExportOne) -> None:
    """G04: softmax over dimension 1 stays float with a hint to permute; over the last it is int8."""
    middle = export_one(nn.Softmax(1), torch.randn(2, 3, 4)).manifest
    last = export_one(nn.Softmax(-1), torch.randn(4, 8)).manifest

    assert "permute" in of_code(middle, "float-node")[0].message
    assert "aten::_softmax.out" in operators(middle)
    assert of_code(last, "float-node") == []
    assert "cortex_m::softmax.out" in operators(last)


def test_g05_attention_reports_reasons(export_one: ExportOne) -> None:
    """G05: attention stays float, and each float node has a reason without debug logs."""
    module = Forward(lambda _, q, k, v: nn.functional.scaled_dot_product_attention(q, k, v))
    manifest = export_one(module, *(torch.randn(1, 2, 8, 8) for _ in range(3))).manifest
    (finding,) = of_code(manifest, "float-node")

    assert operators(manifest).count("aten::bmm.out") == 2
    assert "cortex_m::quantized_batch_matmul.out" not in operators(manifest)
    assert "no pattern for aten.scaled_dot_product_attention" in finding.message


def test_g05_attention_that_cannot_be_lowered_says_why(export_one: ExportOne) -> None:
    """G05: MultiheadAttention with its weights returned fails in ExecuTorch 1.5.1: one line with the root cause."""
    module = Forward(lambda m, x: m[0](x, x, x)[0], nn.MultiheadAttention(16, 2, batch_first=True))

    with pytest.raises(ExportError, match="expected scalar type") as caught:
        export_one(module, torch.randn(1, 8, 16))

    assert "\n" not in caught.value.what
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("module", "shape", "scales", "expected"),
    [
        (nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), (1, 3, 16, 16), (1, 1e4), "of 256 levels"),
        (nn.Conv2d(3, 4, 3), (1, 3, 16, 16), (0, 0), "zero everywhere"),
        (nn.Sequential(nn.Linear(8, 4), nn.Softmax(-1)), (1, 8), (None, None), "1 everywhere"),
    ],
)
def test_g07_degenerate_calibration(
    export_one: ExportOne,
    module: nn.Module,
    shape: tuple[int, ...],
    scales: tuple[float | None, ...],
    expected: str,
) -> None:
    """G07: an outlier, zeros and ones in calibration are each called out at the input."""
    torch.manual_seed(0)
    inputs = tuple((torch.ones(shape) if s is None else s * torch.randn(shape),) for s in scales)
    manifest = export_one(module, torch.randn(shape), calibration=inputs).manifest

    assert expected in of_code(manifest, "degenerate-range")[0].message


def test_g07_good_calibration_is_silent(export_one: ExportOne) -> None:
    """G07's control: normal inputs raise no finding."""
    manifest = export_one(small_cnn(), torch.randn(1, 3, 32, 32)).manifest

    assert of_code(manifest, "degenerate-range") == []


def test_s01_same_padding(export_one: ExportOne) -> None:
    """S01: an even kernel with padding='same' stays float with advice; an odd one and ZeroPad2d are int8."""
    even = export_one(nn.Conv2d(4, 8, 4, padding="same"), torch.randn(1, 4, 8, 8)).manifest
    odd = export_one(nn.Conv2d(4, 8, 3, padding="same"), torch.randn(1, 4, 8, 8)).manifest
    padded = nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(4, 8, 3, stride=2))
    control = export_one(padded, torch.randn(1, 4, 8, 8)).manifest

    assert tuple(m.int8_mac_fraction for m in (even, odd, control)) == (0.0, 1.0, 1.0)
    assert "ZeroPad2d" in of_code(even, "float-node")[0].message


def test_s02_scalar_arithmetic(export_one: ExportOne) -> None:
    """S02: x * 0.5 + 1.0 is a float island, both nodes with reason and advice."""
    module = Forward(lambda m, x: m[0](x) * 0.5 + 1.0, nn.Conv2d(4, 4, 1))
    findings = of_code(export_one(module, torch.randn(1, 4, 8, 8)).manifest, "float-node")

    assert [f.node for f in findings] == ["mul", "add"]
    assert all("fold a constant" in f.message for f in findings)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_s05_other_float_types(dtype: torch.dtype) -> None:
    """S05: half and double weights are refused up front, with the cure."""
    definition = ModelDefinition(nn.Linear(8, 4).to(dtype), (torch.zeros(1, 8, dtype=dtype),))

    with pytest.raises(ModelSourceError, match="want float32") as caught:
        prepare(definition, None)

    assert "cast to float32" in caught.value.hint


@pytest.mark.parametrize(
    ("module", "message", "hint"),
    [
        (Forward(lambda _, x: x + 1 if x.sum() > 0 else x - 1), "data-dependent", "torch.where"),
        (Forward(lambda m, x: {"y": m[0](x)}, nn.Linear(8, 4)), "returns a dict", "tuple"),
        (Forward(lambda m, x: m[0](x), nn.Linear(9, 4)), "own example inputs", "yourself"),
    ],
)
def test_s06_one_line_reasons(
    export_one: ExportOne, module: nn.Module, message: str, hint: str
) -> None:
    """S06: a branch on data, a dict output, a wrong shape: one line each and what to do."""
    with pytest.raises(ExportError, match=message) as caught:
        export_one(module, torch.randn(1, 8))

    assert hint in caught.value.hint
    assert "\n" not in caught.value.what


def test_s06_training_mode_is_put_right() -> None:
    """S06: a model in training mode is put in eval mode, says so, and is not changed itself."""
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).train()
    prepared = prepare(ModelDefinition(module, (torch.randn(1, 3, 8, 8),)), None)

    assert "eval-mode" in [f.code for f in prepared.findings]
    assert not any(layer.training for layer in prepared.module.modules())
    assert module.training


def test_copies_are_their_own_findings(export_one: ExportOne) -> None:
    """Flattening an image costs a copy into channel order, which is reported with its size."""
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 2))
    (finding,) = of_code(export_one(module, torch.randn(1, 3, 8, 8)).manifest, "layout-copy")

    assert "144 bytes" in finding.message


def test_missing_calibration_is_stated(export_one: ExportOne) -> None:
    """Random calibration stands in where a model brings none, and the program says so."""
    manifest = export_one(nn.Linear(4, 2), torch.randn(1, 4)).manifest

    assert "random-calibration" in [f.code for f in manifest.findings]


class Shortcut(nn.Module):
    """A ReLU whose output is concatenated with negative numbers, and goes elsewhere too."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return both."""
        a = torch.relu(self.first(x))
        return torch.cat([a, self.second(a) - 1.0], 1)


def test_activations_that_cannot_be_merged_are_split(export_one: ExportOne) -> None:
    """A ReLU behind a shared quantization: ExecuTorch 1.5.1 would run the convolution on raw int8 (field: own run)."""
    torch.manual_seed(0)
    inputs = [torch.randn(1, 3, 8, 8) for _ in range(4)]

    made = export_one(Shortcut(), inputs[0], calibration=tuple((x,) for x in inputs))

    assert "aten::convolution.out" not in operators(made.manifest)
    host = torch.frombuffer(bytearray(made.files["host_int8_0.bin"]), dtype=torch.float32)
    exact = torch.frombuffer(bytearray(made.files["float_0.bin"]), dtype=torch.float32)
    assert float((host - exact).abs().max()) <= 0.1 * float(exact.abs().max())
