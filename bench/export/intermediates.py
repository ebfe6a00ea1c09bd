"""What every instruction of a program gives on the host: in int8 by Python operators, and in float.

Instructions and nodes of the lowered graph are paired by name: `nodes_of_instructions` gives the node of the emitted
graph, whose names are those of the lowered graph. Instructions that the emitter inserted (copies that change only
the layout) take the values of what they copy.

The float values are those of the model as it was before quantization, batch norms folded, at the point where the
quantized graph quantizes: the tag of a node is followed to the quantization that ends its pattern (past the ReLU
that is fused into a convolution, say), and what goes into that is the reference.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from bench.export.lowering import TAG
from bench.export.oracle import (
    CorrectedInterpreter,
    NoReferenceError,
    graph_constants,
    layout_bytes,
)
from bench.export.report import find_plan, nodes_of_instructions, read_program, tensor_info
from bench.intermediate import INDEX, Intermediate, float_file, host_file, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from executorch.exir.schema import ExecutionPlan
    from torch.export import ExportedProgram

    from bench.export.lowering import Captured, Emitted
    from bench.export.prepare import Inputs
    from bench.program import TensorInfo

COPIES = ("_to_dim_order_copy", "_clone_dim_order", "clone")
ACTIVATIONS = (
    "relu",
    "relu_",
    "hardtanh",
    "hardtanh_",
    "relu6",
    "clamp",
    "hardsigmoid",
    "hardswish",
)
Values = dict[str, torch.Tensor]


@dataclass(frozen=True)
class _Point:
    """An instruction's result and the nodes whose values it should have."""

    index: int
    info: TensorInfo
    node: str  # of the lowered graph, empty if it has none
    float_node: str


def collect(
    captured: Captured,
    lowered: ExportedProgram,
    emitted: Emitted,
    given: Sequence[Inputs],
    floats_given: Sequence[Inputs],
) -> dict[str, bytes]:
    """Return the files that `bench.intermediate` describes.

    Args:
        captured: where the float graph comes from.
        lowered: what `emitted` was made of.
        emitted: the program.
        given: the samples as the program takes them.
        floats_given: the samples as the model takes them.
    """
    plan = find_plan(read_program(emitted.pte), emitted.method)
    lowered_nodes = {node.name: node for node in lowered.graph.nodes}
    float_names = _FloatNames(captured)
    points: list[_Point] = []
    for index, (_, node) in enumerate(nodes_of_instructions(plan, emitted.graph)):
        source = _source(node, lowered_nodes)
        points.append(
            _Point(
                index,
                tensor_info(plan, _result_of(plan, index)),
                source.name if source is not None else "",
                float_names.of_node(source) if source is not None else "",
            )
        )
    host = [_host_values(lowered, inputs) for inputs in given]
    floats = [_float_values(captured.float_graph, inputs) for inputs in floats_given]
    found, files = [], {}
    for point in points:
        of_host = _bytes(point.info, point.node, host)
        of_float = _bytes(point.info, point.float_node, floats, torch.float32)
        if of_host:
            files[host_file(point.index)] = of_host
        if of_float:
            files[float_file(point.index)] = of_float
        found.append(_describe(point, lowered_nodes.get(point.node), bool(of_host), bool(of_float)))
    return {INDEX: to_json(tuple(found)).encode(), **files}


def _result_of(plan: ExecutionPlan, index: int) -> int:
    """Return the value that an instruction writes: its last argument, or the first of the tensors before a list."""
    args: list[int] = list(plan.chains[0].instructions[index].instr_args.args)
    kinds = [type(plan.values[arg].val).__name__ for arg in args]
    last = len(args) - 1
    if kinds[last] == "Tensor":
        return args[last]
    while last > 0 and kinds[last - 1] == "Tensor":
        last -= 1
    return args[last]


def _source(node: torch.fx.Node, lowered_nodes: dict[str, torch.fx.Node]) -> torch.fx.Node | None:
    """Return the node of the lowered graph that gives the values of an emitted node."""
    while node.name not in lowered_nodes:
        source = node.args[0] if node.args else None
        if not isinstance(source, torch.fx.Node) or not _is_copy(node):
            return None
        node = source
    return lowered_nodes[node.name]


class _FloatNames:
    """Finds the node of the float graph that a tag stands for."""

    def __init__(self, captured: Captured) -> None:
        self._tagged = {
            str(node.meta["custom"][TAG]): node
            for node in captured.program.graph.nodes
            if TAG in node.meta.get("custom", {})
        }
        self._inputs: dict[str, str] = dict(
            zip(
                captured.program.graph_signature.user_inputs,
                (n.name for n in captured.float_graph.graph.nodes if n.op == "placeholder"),
                strict=True,
            )
        )

    def of_node(self, node: torch.fx.Node) -> str:
        """Return its name for a node of the lowered graph, a copy's being that of what it copies; empty without one."""
        while _is_copy(node) and isinstance(node.args[0], torch.fx.Node):
            node = node.args[0]
        return self._of_tag(str(node.meta.get("custom", {}).get(TAG, "")))

    def _of_tag(self, tag: str) -> str:
        node = self._tagged.get(tag)
        if node is None:
            return ""
        while _is(node, "dequantize_per_tensor") or _is(node, "quantize_per_tensor"):
            source = node.args[0]
            if not isinstance(source, torch.fx.Node):
                return ""
            node = source
        node = _end_of_pattern(node)
        if node.op == "placeholder":
            return self._inputs.get(node.name, "")
        return str(node.meta.get("custom", {}).get(TAG, ""))


def _end_of_pattern(node: torch.fx.Node) -> torch.fx.Node:
    """Return the node whose value is quantized: the last activation that was fused into this one, or itself."""
    end = node
    while not any(_is(user, "quantize_per_tensor") for user in end.users):
        users = list(end.users)
        if len(users) != 1 or not any(_is(users[0], name) for name in ACTIVATIONS):
            return node
        end = users[0]
    return end


def _is_copy(node: torch.fx.Node) -> bool:
    return any(_is(node, copy) for copy in COPIES)


def _is(node: torch.fx.Node, operator: str) -> bool:
    name = getattr(node.target, "name", None)
    text = str(name()) if callable(name) else str(node.target)
    return text.rpartition("::")[2].partition(".")[0] == operator


class _Keeping(CorrectedInterpreter):
    """Keeps the (first) tensor that each node gave, as it was then."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.kept: Values = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        """Run one node."""
        value = super().run_node(n)
        first = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(first, torch.Tensor):
            self.kept[n.name] = first.detach().clone()
        return value


def _host_values(lowered: ExportedProgram, inputs: Inputs) -> Values:
    """Return what every node of the lowered graph gives, as far as it can be run."""
    interpreter = _Keeping(lowered.graph_module)
    # what comes before a node that cannot be run is known
    with torch.no_grad(), contextlib.suppress(NoReferenceError):
        interpreter.run(*graph_constants(lowered), *inputs)
    return interpreter.kept


def _float_values(graph: torch.fx.GraphModule, inputs: Inputs) -> Values:
    interpreter = _Keeping(graph)
    with torch.no_grad():
        interpreter.run(*inputs)
    return interpreter.kept


def _bytes(
    info: TensorInfo, node: str, runs: Sequence[Values], dtype: torch.dtype | None = None
) -> bytes:
    """Return a node's values of every run in the program's layout; nothing if they are not there or of another shape."""
    if not node or any(node not in values for values in runs):
        return b""
    tensors = [values[node] if dtype is None else values[node].to(dtype) for values in runs]
    if any(tuple(t.shape) != info.shape for t in tensors):
        return b""
    return b"".join(layout_bytes(t, info.dim_order) for t in tensors)


def _describe(
    point: _Point, node: torch.fx.Node | None, has_host: bool, has_float: bool
) -> Intermediate:
    info = point.info
    scale, zero_point, rails = 0.0, 0, (0, 0)
    if info.dtype == "int8" and node is not None:
        scale, zero_point = _quantization(node)
        rails = (-128, 127)
    elif node is not None and "dequantize_per_tensor" in str(node.target):
        scale = float(node.args[1])  # type: ignore[arg-type]
    return Intermediate(
        index=point.index,
        node=point.node,
        shape=info.shape,
        dtype=info.dtype,
        dim_order=info.dim_order,
        nbytes=info.nbytes,
        scale=scale,
        zero_point=zero_point,
        rails=rails,
        has_host=has_host,
        float_node=point.float_node if has_float else "",
    )


def _quantization(node: torch.fx.Node) -> tuple[float, int]:
    """Return scale and zero point of a node's int8 result; (0.0, 0) if nothing tells."""
    if "quantize_per_tensor" in str(node.target):
        return float(node.args[1]), int(node.args[2])  # type: ignore[arg-type]
    params = node.meta.get("output_qparams") or {}
    for given in params.values() if isinstance(params, dict) else ():
        return float(given.scale), int(given.zp)
    for source in node.all_input_nodes:  # a copy has what it copies
        if source.op == "call_function" and "alloc" not in str(source.target):
            return _quantization(source)
    return 0.0, 0
