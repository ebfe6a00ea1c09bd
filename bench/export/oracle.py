"""Expected outputs: the lowered graph run by ExecuTorch's Python operators, and the original model in torch."""

from __future__ import annotations

import hashlib
import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from executorch.exir.dialects._ops import ops as exir_ops
from torch.export.graph_signature import InputKind, OutputKind

from bench.export.calibration import layer_of
from bench.export.softmax_integers import softmax_integers
from bench.model import first_line
from bench.program import Finding, Oracle, TensorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.export import ExportedProgram

    from bench.export.prepare import Inputs

AVG_POOL_CORRECTION = (
    "cortex_m::quantized_avg_pool2d: CMSIS-NN's integers (sum and half of the count, divided by the count, truncated), "
    "which is what devices compute; ExecuTorch's Python operator computes in float"
)
SOFTMAX_CORRECTION = (
    "cortex_m::softmax: CMSIS-NN's integers (exponentials and reciprocal in Q31), which is what devices compute; "
    "ExecuTorch's Python operator computes in float"
)
DILATION_CORRECTION = (
    "cortex_m::quantized_conv2d with dilation: the same kernel with zeros between its weights, because torch has no "
    "dilated convolution of integers; the sums are the same"
)
_AVG_POOL = exir_ops.edge.cortex_m.quantized_avg_pool2d.default
_SOFTMAX = exir_ops.edge.cortex_m.softmax.default
# Where weights and dilation stand among the arguments; weights are OHWI, depthwise ones 1HWC.
_CONVOLUTIONS = {
    exir_ops.edge.cortex_m.quantized_conv2d.default: (1, 5),
    exir_ops.edge.cortex_m.quantized_depthwise_conv2d.default: (1, 5),
}
CORRECTIONS = {_AVG_POOL: AVG_POOL_CORRECTION, _SOFTMAX: SOFTMAX_CORRECTION}


@dataclass(frozen=True)
class HostReference:
    """Outputs of the lowered graph, or why there are none.

    Attributes:
        outputs: by output, one bytes object for all samples; empty without a reference.
        findings: at most one `no-host-reference`.
    """

    oracle: Oracle
    outputs: tuple[bytes, ...]
    findings: tuple[Finding, ...]


class NoReferenceError(Exception):
    """An operator of the lowered graph that cannot run in Python."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"{node}: {reason}")
        self.node = node
        self.reason = reason


def avg_pool2d_integers(
    values: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
) -> torch.Tensor:
    """Average int8 windows as CMSIS-NN's arm_avgpool_s8 does on every backend.

    Sum over the valid window, half of its count added away from zero, division that truncates, clamped.
    Zero point and scale do not enter.
    """

    def window_sums(x: torch.Tensor) -> torch.Tensor:
        sums = torch.nn.functional.avg_pool2d(
            x.to(torch.float64),  # exact: sums of int8 stay far below 2^53
            tuple(kernel_size),
            stride=tuple(stride),
            padding=tuple(padding),
            ceil_mode=ceil_mode,
            divisor_override=1,
        )
        return sums.round().to(torch.int64)

    total = window_sums(values)
    count = window_sums(torch.ones_like(values))
    half = torch.div(count, 2, rounding_mode="trunc")
    rounded = torch.where(total > 0, total + half, total - half)
    average = torch.div(rounded, count, rounding_mode="trunc").clamp(-128, 127)
    return average.to(torch.int8).contiguous(memory_format=torch.channels_last)


def without_dilation(
    weight: torch.Tensor, dilation: Sequence[int]
) -> tuple[torch.Tensor, list[int]]:
    """Return a kernel (n x height x width x channels) with zeros in place of its dilation, and dilation 1."""
    n, height, width, channels = weight.shape
    spread = ((size - 1) * step + 1 for size, step in zip((height, width), dilation, strict=True))
    wide = weight.new_zeros((n, *spread, channels))
    wide[:, :: dilation[0], :: dilation[1]] = weight
    return wide, [1, 1]


def _dilation(node: torch.fx.Node) -> list[int]:
    places = _CONVOLUTIONS.get(node.target)
    dilation: Any = node.args[places[1]] if places else [1, 1]
    return list(dilation)


def corrections_of(lowered: ExportedProgram) -> tuple[str, ...]:
    """Return what is corrected in a graph, one text a kind."""
    targets = {node.target for node in lowered.graph.nodes}
    found = [text for target, text in CORRECTIONS.items() if target in targets]
    if any(_dilation(node) != [1, 1] for node in lowered.graph.nodes):
        found.append(DILATION_CORRECTION)
    return tuple(found)


class CorrectedInterpreter(torch.fx.Interpreter):
    """Runs a lowered graph with the corrections, and names the node that fails."""

    def run_node(self, n: torch.fx.Node) -> Any:
        """Run one node."""
        try:
            if n.target == _AVG_POOL:
                args, _ = self.fetch_args_kwargs_from_env(n)
                values, kernel, stride, padding, ceil_mode = args[:5]
                return avg_pool2d_integers(values, kernel, stride, padding, ceil_mode)
            if n.target == _SOFTMAX:
                args, _ = self.fetch_args_kwargs_from_env(n)
                values, dim, _, _, multiplier, shift, diff_min = args
                return softmax_integers(values, dim, multiplier, shift, diff_min)
            if _dilation(n) != [1, 1]:
                args, kwargs = self.fetch_args_kwargs_from_env(n)
                at, dilation_at = _CONVOLUTIONS[n.target]
                changed: list[Any] = list(args)
                changed[at], changed[dilation_at] = without_dilation(args[at], args[dilation_at])
                return self.call_function(n.target, tuple(changed), kwargs)
            return super().run_node(n)
        except NoReferenceError:
            raise
        except Exception as error:
            reason = first_line(error).partition("  (Could this error message")[0].rstrip(".")
            operator = getattr(getattr(n.target, "_op", None), "name", lambda: n.name)()
            where = layer_of(n)
            raise NoReferenceError(
                f"{where} ({operator})" if where else operator, reason
            ) from error


def host_reference(
    lowered: ExportedProgram, samples: Sequence[Inputs], outputs: Sequence[TensorInfo]
) -> HostReference:
    """Run the lowered graph on every sample; a graph that cannot be run is a finding, not a fault."""
    version = importlib.metadata.version("executorch")
    oracle = Oracle(f"executorch-{version}-python-operators", corrections_of(lowered))
    if any(s.kind == OutputKind.BUFFER_MUTATION for s in lowered.graph_signature.output_specs):
        return _no_reference(oracle, "", "the model keeps state between inferences")
    constants = graph_constants(lowered)
    interpreter = CorrectedInterpreter(lowered.graph_module)
    collected: list[list[bytes]] = [[] for _ in outputs]
    try:
        with torch.no_grad():
            for inputs in samples:
                results = interpreter.run(*constants, *inputs)
                for into, value, info in zip(collected, results, outputs, strict=True):
                    into.append(layout_bytes(value, info.dim_order))
    except NoReferenceError as error:
        return _no_reference(oracle, error.node, error.reason)
    return HostReference(oracle, tuple(b"".join(parts) for parts in collected), ())


def float_reference(
    module: torch.nn.Module, samples: Sequence[Inputs], outputs: Sequence[TensorInfo]
) -> tuple[bytes, ...]:
    """Return the original model's outputs as float32 in the program's layout, by output."""
    collected: list[list[bytes]] = [[] for _ in outputs]
    with torch.no_grad():
        for inputs in samples:
            results = module(*inputs)
            flat = results if isinstance(results, tuple | list) else (results,)
            for into, value, info in zip(collected, flat, outputs, strict=True):
                into.append(layout_bytes(value.to(torch.float32), info.dim_order))
    return tuple(b"".join(parts) for parts in collected)


def layout_bytes(tensor: torch.Tensor, dim_order: Sequence[int]) -> bytes:
    """Return a tensor's bytes as they lie in memory with the given dim order."""
    ordered = tensor.detach().permute(tuple(dim_order)).contiguous()
    return bytes(ordered.numpy().tobytes())


def graph_identity(lowered: ExportedProgram) -> str:
    """Return a hash equal for graphs that compute the same: all but the sizes of scratch buffers.

    Backends without MVE differ in nothing else, so that their expected outputs need be computed only once.
    """
    digest = hashlib.sha256()
    for node in lowered.graph.nodes:
        if getattr(node.target, "__name__", "") == "alloc":
            digest.update(f"{node.name} alloc\n".encode())
        else:
            digest.update(f"{node.name} {node.target} {node.args} {node.kwargs}\n".encode())
    for tensor in graph_constants(lowered):
        digest.update(f"{tensor.shape} {tensor.stride()} {tensor.dtype}".encode())
        digest.update(layout_bytes(tensor, tuple(range(tensor.dim()))))
    return digest.hexdigest()


def graph_constants(lowered: ExportedProgram) -> list[torch.Tensor]:
    """Return what the graph takes before the user's inputs, in order."""
    tensors: list[torch.Tensor] = []
    for spec in lowered.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            continue
        name = str(spec.target)
        tensors.append(
            lowered.constants[name] if name in lowered.constants else lowered.state_dict[name]
        )
    return [t.detach() for t in tensors]


def _no_reference(oracle: Oracle, node: str, reason: str) -> HostReference:
    finding = Finding(
        "no-host-reference",
        node,
        f"The lowered graph cannot be run on the host: {reason}. Outputs are compared with the float model only.",
    )
    return HostReference(oracle, (), (finding,))
