"""Take the float quantization off the ends of an int8 program, so that it takes and gives int8.

A lowered program begins with `cortex_m::quantize_per_tensor` of each float input and ends with
`cortex_m::dequantize_per_tensor` of each output. Where that is all that touches an end, the end becomes the int8
tensor itself, and its scale and zero point go into the manifest: value = (q - zero_point) * scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from bench.program import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.export import ExportedProgram

    from bench.export.prepare import Inputs
    from bench.program import TensorInfo

_INT8 = (-128, 127)


@dataclass(frozen=True)
class Quantization:
    """How an end's int8 numbers mean floats: (q - zero_point) * scale; a scale of 0.0 means that it is not quantized."""

    scale: float = 0.0
    zero_point: int = 0

    def of(self, values: torch.Tensor) -> torch.Tensor:
        """Return floats as the int8 that the program's own quantization would have made of them."""
        if self.scale == 0.0:
            return values
        quantize = torch.ops.quantized_decomposed.quantize_per_tensor.default
        quantized: torch.Tensor = quantize(values, self.scale, self.zero_point, *_INT8, torch.int8)
        return quantized


@dataclass(frozen=True)
class Ends:
    """What a program takes and gives, by input and by output.

    Attributes:
        findings: one `int8-end` for each end that became int8 and one `float-end` for each that could not.
    """

    inputs: tuple[Quantization, ...]
    outputs: tuple[Quantization, ...]
    findings: tuple[Finding, ...] = ()

    def quantize(self, inputs: Inputs) -> Inputs:
        """Return one sample as the program takes it."""
        return tuple(q.of(x) for q, x in zip(self.inputs, inputs, strict=True))

    def of_inputs(self, infos: Sequence[TensorInfo]) -> tuple[TensorInfo, ...]:
        """Return the inputs' facts with their quantization."""
        return _with(infos, self.inputs)

    def of_outputs(self, infos: Sequence[TensorInfo]) -> tuple[TensorInfo, ...]:
        """Return the outputs' facts with their quantization."""
        return _with(infos, self.outputs)


def float_ends(program: ExportedProgram) -> Ends:
    """Return the ends of a program that keeps them as they are."""
    signature = program.graph_signature
    return Ends(
        tuple(Quantization() for _ in signature.user_inputs),
        tuple(Quantization() for _ in signature.user_outputs),
    )


def drop_float_ends(program: ExportedProgram) -> Ends:
    """Remove quantizations at the inputs and dequantizations at the outputs of a lowered program, in place."""
    findings: list[Finding] = []
    nodes = {node.name: node for node in program.graph.nodes}
    inputs = tuple(
        _drop_input(program, nodes[str(name)], f"input {index}", findings)
        for index, name in enumerate(program.graph_signature.user_inputs)
    )
    outputs = tuple(
        _drop_output(program, nodes[str(name)], f"output {index}", findings)
        for index, name in enumerate(program.graph_signature.user_outputs)
    )
    program.graph.eliminate_dead_code()
    program.graph.lint()
    program.graph_module.recompile()
    return Ends(inputs, outputs, tuple(findings))


def _drop_input(
    program: ExportedProgram, node: torch.fx.Node, where: str, findings: list[Finding]
) -> Quantization:
    if node.meta["val"].dtype != torch.float32:
        return Quantization()  # indices and the like are no quantized floats
    users = list(node.users)
    found = {tuple(user.args[1:]) for user in users if _is(user, "quantize_per_tensor")}
    if len(found) != 1 or not all(_is(user, "quantize_per_tensor") for user in users):
        where_to = ", ".join(sorted({str(u.target) for u in users})) or "nothing"
        findings.append(_stays(where, f"it goes to {where_to}"))
        return Quantization()
    quantization = _quantization(next(iter(found)))
    if quantization is None:
        findings.append(_stays(where, "its quantization is none of int8"))
        return Quantization()
    node.meta["val"] = users[0].meta["val"]
    for user in users:
        user.replace_all_uses_with(node)
        program.graph.erase_node(user)
    findings.append(_told(where, quantization))
    return quantization


def _drop_output(
    program: ExportedProgram, node: torch.fx.Node, where: str, findings: list[Finding]
) -> Quantization:
    if node.meta["val"].dtype != torch.float32:
        return Quantization()
    source = node.args[0] if node.args else None
    quantization = (
        _quantization(tuple(node.args[1:])) if _is(node, "dequantize_per_tensor") else None
    )
    if quantization is None or not isinstance(source, torch.fx.Node):
        findings.append(_stays(where, f"it comes from {node.target}"))
        return Quantization()
    if source.op == "placeholder":
        findings.append(_stays(where, "it is an input as it came"))
        return Quantization()
    output = next(n for n in reversed(program.graph.nodes) if n.op == "output")
    output.replace_input_with(node, source)
    for spec in program.graph_signature.output_specs:
        if spec.arg.name == node.name:
            spec.arg.name = source.name
    findings.append(_told(where, quantization))
    return quantization


def _is(node: torch.fx.Node, operator: str) -> bool:
    name = getattr(node.target, "name", None)
    return callable(name) and str(name()).partition("::")[2].partition(".")[0] == operator


def _quantization(args: tuple[Any, ...]) -> Quantization | None:
    """Return scale and zero point of (scale, zero point, low, high, type, ...), if those are the whole int8's."""
    scale, zero_point, low, high, dtype, *_ = args
    if (low, high) != _INT8 or dtype != torch.int8:
        return None
    return Quantization(float(scale), int(zero_point))


def _with(
    infos: Sequence[TensorInfo], quantizations: Sequence[Quantization]
) -> tuple[TensorInfo, ...]:
    return tuple(
        replace(info, scale=q.scale, zero_point=q.zero_point)
        for info, q in zip(infos, quantizations, strict=True)
    )


def _told(where: str, quantization: Quantization) -> Finding:
    return Finding(
        "int8-end",
        where,
        f"It is int8: value = (q {-quantization.zero_point:+d}) * {quantization.scale!r}.",
    )


def _stays(where: str, reason: str) -> Finding:
    return Finding("float-end", where, f"It stays float32: {reason}.")
