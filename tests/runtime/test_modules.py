"""Modules as ExecuTorch lowers them without a backend: operators by the names and arguments that its exporter gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  torch's own name
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir._serialize import _program
from torch import nn

from tests.runtime.conftest import Run, Runner

RELATIVE, ABSOLUTE = 1e-4, 2e-5


class Calls(nn.Module):
    """A module whose forward is a function of its inputs and parts."""

    def __init__(self, function: Callable[..., Any], *parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(parts)

    def forward(self, *inputs: torch.Tensor) -> Any:
        """Call the function."""
        return self.function(*inputs, *self.parts)


def lowered(module: nn.Module, inputs: tuple[Any, ...]) -> bytes:
    """Return the module's program."""
    exported = torch.export.export(module.eval(), inputs, strict=False)
    # Operators beyond core ATen have kernels too.
    beyond = EdgeCompileConfig(_check_ir_validity=False)
    return bytes(to_edge(exported, compile_config=beyond).to_executorch().buffer)


def execute(
    runner: Runner,
    folder: Path,
    program: bytes,
    inputs: tuple[torch.Tensor, ...],
    method: str = "forward",
) -> Run:
    """Write program and inputs, run them."""
    path = folder / "program.pte"
    path.write_bytes(program)
    files = []
    for i, x in enumerate(inputs):
        files.append(folder / f"in{i}.bin")
        files[-1].write_bytes(x.permute(x.dim_order()).contiguous().numpy().tobytes())
    return runner.run(path, *files, method=method)


def compare(run: Run, expected: Any) -> None:
    """Compare all outputs, each in its type."""
    assert "error" not in run.facts, run.facts
    data = run.output
    for tensor in expected if isinstance(expected, tuple | list) else (expected,):
        array = np.frombuffer(data[: tensor.nbytes], tensor.detach().numpy().dtype)
        data = data[tensor.nbytes :]
        actual = torch.from_numpy(array.copy()).reshape(tensor.shape)
        torch.testing.assert_close(actual, tensor.contiguous(), rtol=RELATIVE, atol=ABSOLUTE)
    assert data == b""


def draw(*shape: int) -> torch.Tensor:
    """Return normal numbers."""
    return torch.randn(shape)


torch.manual_seed(0)
X = draw(2, 3, 4, 5)
CASES: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]] = {
    "encoder-layer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (draw(1, 4, 8),)),
    "multihead-attention": (nn.MultiheadAttention(8, 2, batch_first=True), (draw(1, 4, 8),) * 3),
    "sdpa": (Calls(F.scaled_dot_product_attention), (draw(1, 2, 8, 8),) * 3),
    "causal-mask": (Calls(lambda a: a.tril().masked_fill(a > 1, -1e9).softmax(-1)), (X,)),
    "lstm": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), (draw(1, 5, 3),)),
    "gru": (nn.GRU(3, 4, batch_first=True), (draw(1, 5, 3),)),
    "norms": (Calls(lambda a, *p: [f(a) for f in p], nn.GroupNorm(3, 3), nn.InstanceNorm2d(3), nn.LayerNorm(5), nn.RMSNorm(5)), (X,)),
    "batch-norm-1d": (nn.BatchNorm1d(3), (draw(2, 3, 7),)),
    "activations": (Calls(lambda a: [F.leaky_relu(a, 0.1), F.elu(a), F.selu(a), F.celu(a), F.gelu(a), F.gelu(a, approximate="tanh"), F.silu(a), F.softplus(a), F.mish(a), F.hardswish(a), F.hardsigmoid(a), F.softsign(a), F.logsigmoid(a), F.glu(a, 2)]), (X,)),
    "prelu": (nn.PReLU(3), (X,)),
    "convolutions": (Calls(lambda a, *p: [f(a) for f in p], nn.Conv1d(3, 4, 3, dilation=2), nn.ConvTranspose1d(3, 4, 3, stride=2), nn.Conv1d(3, 6, 3, groups=3, padding=1)), (draw(1, 3, 8),)),
    "transposed": (nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2), (draw(1, 4, 5, 5),)),
    "pools-1d": (Calls(lambda a: [F.avg_pool1d(a, 2), F.max_pool1d(a, 3, 2, ceil_mode=True), F.adaptive_avg_pool1d(a, 1)]), (draw(1, 3, 8),)),
    "adaptive": (Calls(lambda a: [F.adaptive_avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, 1)]), (X,)),
    "paddings": (Calls(lambda a: [F.pad(a, (1, 1, 2, 0)), F.pad(a, (1, 1, 1, 1), mode="reflect"), F.pad(a, (1, 1, 1, 1), mode="replicate")]), (X,)),
    "upsampling": (Calls(lambda a: [F.interpolate(a, scale_factor=2), F.interpolate(a, size=(8, 7)), F.interpolate(a, scale_factor=2, mode="bilinear"), F.interpolate(a, size=(7, 9), mode="bilinear", align_corners=True)]), (X,)),
    "upsampling-1d": (Calls(lambda a: F.interpolate(a, scale_factor=2)), (draw(1, 2, 5),)),
    "pixel-shuffle": (nn.PixelShuffle(2), (draw(1, 8, 3, 3),)),
    "embedding": (nn.Embedding(10, 4), (torch.tensor([[1, 9], [0, 3]]),)),
    "parts": (Calls(lambda a, b: [torch.cat([a, b], 1), torch.stack([a, b], 1), *torch.split(a, 2, 3), *a.chunk(2, 2), *a.unbind(1), a[:, 1:, ::2], a[:, 1], a.roll(1, 2), a.flip(1), a[:, [0, 2]], a.repeat(2, 1, 1, 3), a[:1].expand(4, 3, 4, 5)]), (X, draw(2, 3, 4, 5))),
    "numbers": (Calls(lambda a: [a + 1.5, 1 - a, a * 2, a / 3, a**2, a.abs() ** 3.5, 2**a, torch.div(a, 0.7, rounding_mode="floor"), a.clamp(min=0.1)]), (X,)),
    "made": (Calls(lambda a: [a + torch.zeros(5), a + torch.arange(5), torch.full_like(a, 2.0) + a, a.to(torch.int32), (a > 0).to(torch.float32)]), (X,)),
    "reductions": (Calls(lambda a: [a.sum(1), a.sum(), a.mean((2, 3)), a.mean(), a.var(1), a.std(1), a.prod(1), a.cumsum(1), a.amax(1), a.amin((1, 2)), a.max(), a.min(), a.argmax(1), a.argmin(), (a > 0).any(1)]), (X,)),
    "logic": (Calls(lambda a, b: [torch.where(a > b, a, b), torch.where(a > 0, a, 0.0), (a > 0) & (b > 0), ~(a > 0), torch.logical_not(a), torch.logical_xor(a > 0, b > 0), a.eq(b), torch.maximum(a, b), torch.minimum(a, b)]), (X, draw(2, 3, 4, 5))),
    "products": (Calls(lambda a, b: [torch.bmm(a[0], b[0]), torch.matmul(a, b), torch.einsum("bij,bjk->bik", a[0], b[0])]), (draw(1, 2, 3, 4), draw(1, 2, 4, 5))),
    "normalize": (Calls(lambda a: [F.normalize(a, dim=1), F.cosine_similarity(a, a + 1, dim=1)]), (X,)),
    "functions": (Calls(lambda a: [f(a) for f in (torch.sin, torch.cos, torch.tan, torch.sinh, torch.cosh, torch.tanh, torch.atan, torch.asinh, torch.exp, torch.expm1, torch.erf, torch.sigmoid, torch.abs, torch.neg, torch.sign, torch.floor, torch.ceil, torch.trunc, torch.round, torch.relu)]), (X,)),
    "functions-of-fractions": (Calls(lambda a: [f(a) for f in (torch.asin, torch.acos, torch.atanh, torch.log, torch.log2, torch.log10, torch.log1p, torch.sqrt, torch.rsqrt, torch.reciprocal, torch.logit, lambda x: torch.acosh(x + 1.0), lambda x: torch.atan2(x, x - 0.5))]), (torch.rand(2, 3, 4) * 0.9 + 0.05,)),
    "integers": (Calls(lambda a, b: [a & b, a | b, a ^ b, ~a, a // b, torch.remainder(a, b), torch.fmod(a, b), a & 3, a | 3, a ^ 3, a == 2, a != b, a < b, a <= 1, a > b, a >= b, a * b - a, torch.bitwise_left_shift(a, b), torch.bitwise_right_shift(a, b), a << 2, a >> 1]), (torch.randint(-9, 9, (2, 5)), torch.randint(1, 5, (2, 5)))),
    "comparisons": (Calls(lambda a, b: [a < b, a <= b, a > b, a >= b, a != b, a == 0.0, a < 0.5, a <= 0.5, a > 0.5, a >= 0.5, a != 0.5, torch.logical_and(a > 0, b > 0), torch.logical_or(a > 0, b > 0), torch.isnan(a), torch.isinf(a), (a > 0).any(), torch.remainder(a, 0.7), torch.fmod(a, 0.7), torch.remainder(a, b), torch.floor_divide(a, b)]), (X, draw(2, 3, 4, 5))),
    "softmaxes": (Calls(lambda a: [a.softmax(-1), a.softmax(1), a.log_softmax(-1), a.log_softmax(0)]), (X,)),
    "linear-algebra": (Calls(lambda a, b: [torch.mm(a, b), torch.addmm(a[0, 0], a, b, beta=0.5, alpha=2.0), torch.cdist(a, b.t()), torch.pdist(a)]), (draw(3, 4), draw(4, 5))),
    "writing": (Calls(lambda a, i, b: [a.scatter(1, i, b), a.scatter(1, i, 2.5), a.scatter_add(0, i, b), a.index_put((i[0],), b[0]), a.select_scatter(b[0], 0, 1), a.slice_scatter(b[:1], 0, 1, 2), a.masked_scatter(a > 0, b), a.gather(1, i), a.index_select(0, i[0, :2]), a.index_fill(0, i[0, :1], 9.0)]), (draw(3, 3), torch.tensor([[0, 2, 1], [2, 1, 0]]), draw(3, 3))),
    "ordering": (Calls(lambda a: [*a.topk(2, 1), *a.topk(3, -1, largest=False), *a.max(1), *a.min(2), a.tril(-1), a.roll((1, -2), (0, 1)), a.unfold(3, 2, 2), a.diagonal(1, 2, 3), a.narrow(3, 1, 2), a.flip((0, 2)), a.transpose(1, 2), *torch.var_mean(a, 1), a.squeeze(), a.unsqueeze(0)]), (X,)),
    "edges-and-samples": (Calls(lambda a, g: [F.pad(a, (2, 1, 0, 1), mode="reflect"), F.pad(a, (2, 1, 0, 1), mode="replicate"), F.grid_sample(a, g, align_corners=False), F.grid_sample(a, g, mode="nearest", padding_mode="reflection", align_corners=True), F.pixel_unshuffle(a[:, :, :2, :4], 2)]), (X, draw(2, 3, 2, 2))),
    "images": (Calls(lambda a, *p: [f(a) for f in p], nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3), nn.BatchNorm2d(3), nn.MaxPool2d(2), nn.AvgPool2d(3, 1, 1, count_include_pad=False), nn.ReLU6(), nn.Hardtanh(-0.5, 0.5)), (X,)),
    "mixed-types": (Calls(lambda a, b: a + b), (torch.arange(6, dtype=torch.int32), draw(6))),
    "scalar-tensors": (Calls(lambda a, b: a * b), (torch.tensor(3.0), draw(2, 2))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_modules(runner: Runner, tmp_path: Path, name: str) -> None:
    """Lowered modules give torch's numbers on torch's inputs, several outputs included."""
    module, inputs = CASES[name]
    program = lowered(module, inputs)
    with torch.no_grad():
        expected = module.eval()(*inputs)
    flat = torch.utils._pytree.tree_leaves(expected)

    run = execute(runner, tmp_path, program, inputs)

    compare(run, flat)


def test_methods_by_name(runner: Runner, tmp_path: Path) -> None:
    """A program of several methods runs the one that is asked for; another name is an error."""
    first, second = nn.Linear(4, 3).eval(), nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()
    exported = {
        "forward": torch.export.export(first, (draw(1, 4),), strict=False),
        "encode": torch.export.export(second, (draw(1, 2),), strict=False),
    }
    program = bytes(to_edge(exported).to_executorch().buffer)
    x, y = draw(1, 4), draw(1, 2)

    compare(execute(runner, tmp_path, program, (x,)), first(x))
    compare(execute(runner, tmp_path, program, (y,), "encode"), second(y))
    missing = runner.run(tmp_path / "program.pte", method="decode").facts["error"]
    assert "method-missing" == missing


def test_constants_in_the_flatbuffer(runner: Runner, tmp_path: Path) -> None:
    """Constants may lie inside the flatbuffer in place of a segment."""
    module, x = nn.Linear(7, 5).eval(), draw(3, 7)
    outside = lowered(module, (x,))
    program = _program.deserialize_pte_binary(outside).program
    inside = bytes(
        _program._program_to_flatbuffer(
            program, constant_tensor_alignment=16, delegate_alignment=16
        ).data
    )

    compare(execute(runner, tmp_path, inside, (x,)), module(x))

    assert b"eh00" not in inside
    assert b"eh00" in outside


def test_several_inputs_and_outputs(runner: Runner, tmp_path: Path) -> None:
    """Inputs and outputs of different types keep their order."""
    module = Calls(lambda a, b, c: (a + b, c + 1, b - a))
    inputs = (draw(2, 3), draw(2, 3), torch.arange(4))
    run = execute(runner, tmp_path, lowered(module, inputs), inputs)

    assert ("3", "3") == (run.facts["inputs"], run.facts["outputs"])
    compare(run, module(*inputs))


def test_numbers_as_inputs(runner: Runner, tmp_path: Path) -> None:
    """Numbers that export took as constants stand among the inputs of a program, and ask for nothing."""
    module = Calls(lambda a, n: a * n)
    x = draw(2, 3)
    program = lowered(module, (x, 3))

    run = execute(runner, tmp_path, program, (x,))

    assert "1" == run.facts["inputs"]
    compare(run, x * 3)


def test_outputs_in_the_input_of_topk(runner: Runner, tmp_path: Path) -> None:
    """What the fuzz target found: once an output overwrote the input, no element was the next best."""
    x = torch.tensor([3.0, 1.0, 2.0])
    file = _program.deserialize_pte_binary(lowered(Calls(lambda a: tuple(a.topk(3))), (x,)))
    plan = file.program.execution_plan[0]
    given, values = (plan.values[ends[0]].val for ends in (plan.inputs, plan.outputs))
    values.allocation_info.memory_offset_low = given.allocation_info.memory_offset_low
    program = bytes(_program.serialize_pte_binary(file))

    run = execute(runner, tmp_path, program, (x,))

    # 2 is written over 1, and nothing follows the last 2.
    compare(run, (torch.tensor([3.0, 2.0, 2.0]), torch.tensor([0, 2, 2])))


def test_dynamic_shapes_are_named(runner: Runner) -> None:
    """A shape that is known only at run time is refused when the program is loaded, with the value."""
    rows = torch.export.Dim("rows", min=1, max=8)
    exported = torch.export.export(
        Calls(lambda a: a + 1.0), (draw(4, 2),), dynamic_shapes=(({0: rows},),), strict=False
    )
    program = bytes(to_edge(exported).to_executorch().buffer)

    facts = runner.run_bytes(program).facts

    assert "dynamic-shape-unsupported" == facts["error"]
    assert int(facts["value"]) >= 0
