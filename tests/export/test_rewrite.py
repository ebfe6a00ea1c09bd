"""What the export rewrites before quantization: the same numbers, in a form that the quantizer takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name
from torch import nn
from torch.nn.utils import parametrizations

from bench.export.programs import ProgramFiles
from bench.export.rewrite import rewrite
from tests.export.test_field_cases import Forward, of_code, operators

ExportOne = Callable[..., ProgramFiles]


class Computed(nn.Module):
    """A layer whose weight is a function of parameters."""

    def __init__(self, layer: Callable[..., torch.Tensor], *shape: int) -> None:
        super().__init__()
        self.layer = layer
        self.weight, self.gain = (
            nn.Parameter(torch.randn(shape)),
            nn.Parameter(torch.rand(shape[0])),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Standardize the weight (Qiao et al., 2019), then use it."""
        gain = self.gain.reshape(-1, *[1] * (self.weight.dim() - 1))
        weight = (self.weight - self.weight.mean()) / (self.weight.std() + 1e-5) * gain
        return self.layer(x, weight)


def same(*layers: nn.Module) -> nn.Sequential:
    """Return layers whose batch norms have learned something."""
    module = nn.Sequential(*layers).eval()
    for norm in (m for m in module.modules() if isinstance(m, nn.BatchNorm1d)):
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(0.5, 2)
    return module


torch.manual_seed(0)
SEQUENCES: dict[str, nn.Module] = {
    "conv-norm-relu-pool": same(
        nn.Conv1d(3, 8, 5, stride=2, padding=2),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.MaxPool1d(3, 2, padding=1, ceil_mode=True),
        nn.Conv1d(8, 8, 3, padding="same", groups=8, bias=False),
        nn.ReLU6(),
        nn.PReLU(8),
        nn.Dropout(),
        nn.AvgPool1d(2),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    ),
    "dilated": same(nn.Conv1d(3, 4, 3, dilation=3), nn.Conv1d(4, 2, 1)),
    "transposed": same(nn.ConvTranspose1d(3, 4, 4, stride=3, padding=1, output_padding=1)),
    "shortcut": Forward(
        lambda p, x: p[1](F.relu(p[0](x))) + x,
        nn.Conv1d(3, 6, 3, padding=1),
        nn.Conv1d(6, 3, 3, padding=1),
    ),
    # Constants of C x 1 would broadcast over other dimensions of an image.
    "constant-beside": Forward(lambda p, x: p[0](x) * p[1].weight[:, :1], nn.Conv1d(3, 5, 3), nn.Linear(3, 5)),
    "other-dimensions": Forward(lambda p, x: p[0](x).transpose(1, 2).softmax(-1), nn.Conv1d(3, 5, 3)),
    "used-twice": Forward(lambda p, x: torch.cat([p[0](x), p[0](x.flip(2))], 1), nn.Conv1d(3, 5, 3)),
}  # fmt: skip
CONSTANTS: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "standardized-conv": (Computed(F.conv2d, 4, 3, 3, 3), torch.randn(1, 3, 8, 8)),
    "standardized-linear": (Computed(F.linear, 5, 6), torch.randn(2, 6)),
    "weight-norm": (parametrizations.weight_norm(nn.Linear(6, 5)), torch.randn(2, 6)),
    "spectral-norm": (parametrizations.spectral_norm(nn.Linear(6, 5)), torch.randn(2, 6)),
    "matrix": (Computed(torch.matmul, 6, 5), torch.randn(2, 3, 6)),
    "matrix-and-bias": (
        Computed(lambda x, w: torch.addmm(w[0] * 2, x, w), 6, 5),
        torch.randn(2, 6),
    ),
}


def rewritten(module: nn.Module, x: torch.Tensor) -> tuple[nn.Module, list[str]]:
    """Return the module after export and rewriting, and the findings' texts."""
    exported = torch.export.export(module.eval(), (x,), strict=False).module(check_guards=False)
    return exported, [f.message for f in rewrite(exported)]


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_give_the_same_numbers(name: str) -> None:
    """Whatever stands between 1-D convolutions, and where it does not fit."""
    module, x = SEQUENCES[name], torch.randn(2, 3, 23)
    with torch.no_grad():
        expected = module.eval()(x)
        new, _ = rewritten(module, x)
        actual = new(x)

    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    targets = {str(node.target) for node in new.graph.nodes}
    assert (
        not {"aten.conv1d.default", "aten.conv1d.padding", "aten.conv_transpose1d.default"}
        & targets
    )


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_give_the_same_numbers(name: str) -> None:
    """Computed weights are one constant, products with a matrix one linear layer."""
    module, x = CONSTANTS[name]
    with torch.no_grad():
        expected = module.eval()(x)
        new, found = rewritten(module, x)
        actual = new(x)

    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    calls = [str(node.target) for node in new.graph.nodes if node.op == "call_function"]
    assert 1 == len(calls), calls
    assert found


def test_what_would_grow_is_not_computed() -> None:
    """A constant that is repeated to many times its size stays computed: Flash is dearer than that."""
    module = Forward(lambda p, x: x + p[0].weight.repeat(50, 1), nn.Linear(4, 1))

    new, found = rewritten(module, torch.randn(50, 4))

    assert [] == found
    assert any("repeat" in str(node.target) for node in new.graph.nodes)


@pytest.mark.parametrize("name", ["standardized-conv", "weight-norm", "spectral-norm", "matrix"])
def test_computed_weights_run_in_int8(export_one: ExportOne, name: str) -> None:
    """ExecuTorch 1.5.1 refuses them, or leaves them float; rewritten they are int8, and the export says so."""
    module, x = CONSTANTS[name]
    manifest = export_one(module, x).manifest

    assert 1.0 == manifest.int8_mac_fraction
    assert of_code(manifest, "mended")


def test_sequences_run_in_int8(export_one: ExportOne) -> None:
    """A 1-D CNN is all int8, activations fused; the copies between layouts stand at its ends alone."""
    module = nn.Sequential(
        *(m for m in SEQUENCES["conv-norm-relu-pool"] if not isinstance(m, nn.Dropout))
    )
    manifest = export_one(module, torch.randn(1, 3, 64)).manifest

    assert 1.0 == manifest.int8_mac_fraction
    assert 1 == operators(manifest).count("dim_order_ops::_clone_dim_order.out")
    assert "cortex_m::quantized_depthwise_conv2d.out" in operators(manifest)
    assert 2 == len(of_code(manifest, "mended"))
    assert ["6 (prelu)"] == [f.node for f in of_code(manifest, "float-node")]
