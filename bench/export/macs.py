"""Count multiply-accumulates from the shapes of a graph's nodes."""

from __future__ import annotations

import math
from typing import Any

from bench.errors import ExportError

CONVOLUTIONS = ("convolution", "quantized_conv2d", "quantized_conv2d_nhwc")
DEPTHWISE = ("quantized_depthwise_conv2d", "quantized_depthwise_conv2d_nhwc")
TRANSPOSED = ("quantized_transpose_conv2d", "quantized_transpose_conv2d_nhwc")
MATRICES = ("addmm", "baddbmm")  # the bias comes first
ROWS = ("quantized_linear", "linear", "mm", "bmm", "quantized_batch_matmul")


def count_macs(operator: str, node: Any) -> int:
    """Return the multiply-accumulates of one operator per inference; a bias counts as none.

    Args:
        operator: full name, `cortex_m::quantized_conv2d.out`.
        node: its node, whose arguments have shapes.
    """
    name = operator.partition("::")[2].partition(".")[0]
    outputs = math.prod(shape_of(node))
    if name in CONVOLUTIONS and not (name == "convolution" and node.args[6]):
        per_output = math.prod(shape_of(node.args[1])[1:])  # O x rest, in any order of the rest
    elif name in DEPTHWISE:
        per_output = math.prod(shape_of(node.args[1])[1:3])  # 1 x H x W x O
    elif name == "convolution":  # transposed: I x O/groups x H x W, each input meets all of it
        outputs = math.prod(shape_of(node.args[0]))
        per_output = math.prod(shape_of(node.args[1])[1:])
    elif name in TRANSPOSED:  # O x H x W x I
        outputs = math.prod(shape_of(node.args[0]))
        per_output = math.prod(shape_of(node.args[1])[:3])
    elif name in MATRICES:
        per_output = shape_of(node.args[1])[-1]
    elif name in ROWS:
        per_output = shape_of(node.args[0])[-1]
    else:
        return 0
    return outputs * per_output


def shape_of(node: Any) -> tuple[int, ...]:
    """Return the sizes of a node's (first) tensor."""
    return tuple(int(d) for d in value_of(node).shape)


def value_of(node: Any) -> Any:
    """Return the (first) fake tensor of a node; raises ExportError if it has none."""
    for key in ("val", "spec"):
        value = node.meta.get(key)
        if isinstance(value, tuple | list):
            value = value[0]
        if value is not None:
            return value
    raise ExportError(f"node {node.name} has no shape")
