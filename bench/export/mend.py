"""Mend what ExecuTorch's int8 lowering would get wrong, and refuse what it did get wrong.

Its quantizer takes a convolution and the ReLU behind it as one pattern, with one quantization behind both. Its
lowering merges the two only where the bounds of the activation are those of the quantized range; where the output shares
its quantization with a concatenation of negative numbers they are not. Then the convolution is left without an output
quantization and would run on the bytes of int8 numbers as if they were the numbers (executorch 1.5.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from executorch.backends.cortex_m.passes.passes_utils import get_activation_bounds, quantize_val
from executorch.exir.dialects._ops import ops as exir_ops

from bench.errors import ExportError
from bench.export.calibration import layer_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_EDGE = exir_ops.edge
_QUANTIZE = _EDGE.quantized_decomposed.quantize_per_tensor.default
_DEQUANTIZE = _EDGE.quantized_decomposed.dequantize_per_tensor.default
_ACTIVATIONS = (
    _EDGE.aten.relu.default,
    _EDGE.aten.hardtanh.default,
    _EDGE.aten.clamp.default,
)
_PRODUCERS = (
    _EDGE.aten.linear.default,
    _EDGE.aten.convolution.default,
    _EDGE.aten.add.Tensor,
    _EDGE.aten.sub.Tensor,
)
# Operators whose int8 result needs scales that their arguments do not carry.
_SCALED = (
    *_PRODUCERS,
    *(_EDGE.aten.addmm.default, _EDGE.aten.mm.default, _EDGE.aten.bmm.default),
    *(_EDGE.aten.mul.Tensor, _EDGE.aten.div.Tensor),
)


def split_activations(program: ExportedProgram) -> int:
    """Quantize between a producer and the activation that cannot be merged into it; return how often.

    The quantization is that behind the activation, so that the result is the merged one's: rounded, then bounded.
    """
    count = 0
    for node in list(program.graph.nodes):
        if node.target not in _ACTIVATIONS or len(node.users) != 1:
            continue
        quantize, producer = next(iter(node.users)), node.args[0]
        if quantize.target != _QUANTIZE or producer.target not in _PRODUCERS:
            continue
        if len(producer.users) == 1 and not _merges(node, quantize.args):
            _quantize_before(program.graph, node, producer, quantize)
            count += 1
    if count:
        program.graph.lint()
        program.graph_module.recompile()
    return count


def check_scales(lowered: ExportedProgram) -> None:
    """Refuse a program that computes with int8 numbers and no scales.

    Raises:
        ExportError: it would run, and its outputs would mean nothing.
    """
    for node in lowered.graph.nodes:
        value = node.meta.get("val")
        if node.target in _SCALED and getattr(value, "dtype", None) == torch.int8:
            where = layer_of(node) or node.name
            operator = getattr(getattr(node.target, "_op", None), "name", lambda: "an operator")()
            raise ExportError(
                f"ExecuTorch lowered {where} to {operator} on int8 data without its scales",
                hint="its outputs would be wrong; change what is around the layer, or use --scheme=fp32",
            )


def _merges(activation: torch.fx.Node, quantization: tuple[Any, ...]) -> bool:
    """Whether the activation's bounds are those of the quantized range, as ActivationFusionPass demands."""
    bounds = get_activation_bounds(activation)
    if bounds is None:
        return True  # nothing that could be mended
    _, scale, zero_point, low, high, *_ = quantization
    for bound, end in zip(bounds, (low, high), strict=True):
        if bound is not None and quantize_val(bound, scale, zero_point, low, high) != end:
            return False
    return True


def _quantize_before(
    graph: torch.fx.Graph, activation: torch.fx.Node, producer: torch.fx.Node, like: torch.fx.Node
) -> None:
    with graph.inserting_before(activation):
        quantized = graph.create_node("call_function", _QUANTIZE, (producer, *like.args[1:]))
        restored = graph.create_node("call_function", _DEQUANTIZE, (quantized, *like.args[1:]))
    quantized.meta = {**producer.meta, "val": like.meta["val"]}
    restored.meta = dict(producer.meta)
    activation.replace_input_with(producer, restored)
