"""Rewrite a model's graph before quantization so that the quantizer can take it; what it computes stays the same.

The Cortex-M quantizer wants weights that are constants, and convolutions and pools over images (executorch 1.5.1). So
weights that an operator computes from constants are computed here, products with a constant matrix become linear
layers, and layers over sequences (N x C x L) become layers over images of one line (N x C x 1 x L, channels last).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from bench.export.calibration import layer_of
from bench.program import Finding

_ATEN = torch.ops.aten
_LINE = 2  # where a sequence's image has its one line

Graph = torch.fx.GraphModule
Node = torch.fx.Node


def rewrite(module: Graph) -> tuple[Finding, ...]:
    """Rewrite an exported module in place; return a `mended` finding for each thing that was done."""
    found = (*fold_constants(module), *multiply_as_linear(module), *lift_sequences(module))
    if found:
        module.graph.eliminate_dead_code()
        module.graph.lint()
        module.delete_all_unused_submodules()
        module.recompile()
    return found


# --- constants ------------------------------------------------------------------------------------------------------


def fold_constants(module: Graph) -> list[Finding]:
    """Compute what depends on constants alone, once; not what would take more memory than what it is made of."""
    known: dict[Node, Any] = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            known[node] = _attribute(module, str(node.target))
        elif _foldable(node, known):
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
            with torch.no_grad():
                value = node.target(*args, **kwargs)
            sources = [known[source] for source in node.all_input_nodes]
            if _numel([value]) <= _numel(sources):
                known[node] = value
    findings = []
    for node, value in known.items():
        if node.op == "get_attr" or not isinstance(value, torch.Tensor):
            continue
        if all(user in known for user in node.users):
            continue
        constant = _add_constant(module, node, value)
        node.replace_all_uses_with(constant)
        used_by = next(iter(constant.users))
        told = "It is computed from constants alone: the export computed it, the device does not."
        findings.append(_mended(used_by, told))
    return findings


def _foldable(node: Node, known: dict[Node, Any]) -> bool:
    if node.op != "call_function" or not node.all_input_nodes:
        return False
    if node.target is not operator.getitem:
        if not isinstance(node.target, OpOverload) or _schema(node.target).is_mutable:
            return False
        if torch.Tag.nondeterministic_seeded in node.target.tags:
            return False
    return all(source in known for source in node.all_input_nodes)


def _numel(values: list[Any]) -> int:
    return sum(value.numel() for value in tree_leaves(values) if isinstance(value, torch.Tensor))


def multiply_as_linear(module: Graph) -> list[Finding]:
    """Write x @ W and b + x @ W, W constant, as linear layers, which the quantizer knows."""
    findings = []
    for node in list(module.graph.nodes):
        bias: Any = None
        if node.target in (_ATEN.matmul.default, _ATEN.mm.default):
            values, weight = node.args
        elif node.target == _ATEN.addmm.default and len(node.args) == 3 and not node.kwargs:
            bias, values, weight = node.args
            if not _is_constant(bias) or bias.meta["val"].dim() != 1:
                continue
        else:
            continue
        if not _is_constant(weight) or weight.meta["val"].dim() != 2 or _is_constant(values):
            continue
        with module.graph.inserting_before(node):
            transposed = _attribute(module, str(weight.target)).detach().t().contiguous()
            constant = _add_constant(module, node, transposed)
            linear = _call(module, node, _ATEN.linear.default, values, constant, bias)
        node.replace_all_uses_with(linear)
        findings.append(_mended(linear, "A product with a constant matrix runs as a linear layer."))
    return findings


# --- sequences ------------------------------------------------------------------------------------------------------


def _pair(value: Any, other: int) -> list[int]:
    """Return a number of a sequence's one dimension as an image's two, `other` for the line."""
    return [other, int(value[0]) if isinstance(value, list | tuple) else int(value)]


def _arguments(node: Node) -> dict[str, Any]:
    """Return the arguments by the names of the operator's schema, defaults filled in."""
    schema = _schema(node.target).arguments
    given = {a.name: a.default_value for a in schema if a.has_default_value()}
    given |= {a.name: value for a, value in zip(schema, node.args, strict=False)}
    return given | node.kwargs


def _conv(lift: _Lift, node: Node) -> Node | None:
    a = _arguments(node)
    weight = lift.weight(a["weight"], node)
    if weight is None:
        return None
    target = _ATEN.conv2d.default
    padding = a["padding"]
    if isinstance(padding, str):
        target = _ATEN.conv2d.padding
    else:
        padding = _pair(padding, 0)
    steps = (_pair(a["stride"], 1), padding, _pair(a["dilation"], 1), a["groups"])
    return lift.call(node, target, lift.of(a["input"], node), weight, a["bias"], *steps)


def _transposed_conv(lift: _Lift, node: Node) -> Node | None:
    a = _arguments(node)
    weight = lift.weight(a["weight"], node)
    if weight is None:
        return None
    steps = (_pair(a["stride"], 1), _pair(a["padding"], 0), _pair(a["output_padding"], 0))
    target, values = _ATEN.conv_transpose2d.input, lift.of(a["input"], node)
    return lift.call(
        node, target, values, weight, a["bias"], *steps, a["groups"], _pair(a["dilation"], 1)
    )


def _max_pool(lift: _Lift, node: Node) -> Node:
    a = _arguments(node)
    steps = (
        *(_pair(a["kernel_size"], 1), _pair(a["stride"] or a["kernel_size"], 1)),
        *(_pair(a["padding"], 0), _pair(a["dilation"], 1), a["ceil_mode"]),
    )
    return lift.call(node, _ATEN.max_pool2d.default, lift.of(a["self"], node), *steps)


def _avg_pool(lift: _Lift, node: Node) -> Node:
    a = _arguments(node)
    steps = (
        *(_pair(a["kernel_size"], 1), _pair(a["stride"] or a["kernel_size"], 1)),
        *(_pair(a["padding"], 0), a["ceil_mode"], a["count_include_pad"]),
    )
    return lift.call(node, _ATEN.avg_pool2d.default, lift.of(a["self"], node), *steps)


def _adaptive_pool(lift: _Lift, node: Node) -> Node:
    size = _pair(node.args[1], 1)
    return lift.call(node, _ATEN.adaptive_avg_pool2d.default, lift.of(node.args[0], node), size)


def _same(lift: _Lift, node: Node) -> Node:
    """An operator that works on images as on sequences, and whose tensors but constants are lifted."""
    args = [
        lift.of(arg, node) if isinstance(arg, Node) and not _is_constant(arg) else arg
        for arg in node.args
    ]
    return lift.call(node, node.target, *args, **node.kwargs)


# Their constants are one number a channel.
_BY_CHANNEL = (_ATEN.batch_norm.default, _ATEN.prelu.default)
# What begins an image; the rest is lifted where its inputs are.
_LAYERS: dict[Any, Callable[[_Lift, Node], Node | None]] = {
    _ATEN.conv1d.default: _conv,
    _ATEN.conv1d.padding: _conv,
    _ATEN.conv_transpose1d.default: _transposed_conv,
}
_FOLLOWERS: dict[Any, Callable[[_Lift, Node], Node]] = {
    _ATEN.max_pool1d.default: _max_pool,
    _ATEN.avg_pool1d.default: _avg_pool,
    _ATEN.adaptive_avg_pool1d.default: _adaptive_pool,
    **dict.fromkeys(_BY_CHANNEL, _same),
    **dict.fromkeys(
        (
            *(_ATEN.relu.default, _ATEN.relu_.default, _ATEN.relu6.default, _ATEN.clamp.default),
            *(_ATEN.hardtanh.default, _ATEN.hardtanh_.default, _ATEN.leaky_relu.default),
            *(_ATEN.hardswish.default, _ATEN.hardswish_.default, _ATEN.hardsigmoid.default),
            *(_ATEN.sigmoid.default, _ATEN.tanh.default, _ATEN.silu.default, _ATEN.gelu.default),
            *(_ATEN.dropout.default, _ATEN.add.Tensor, _ATEN.add_.Tensor, _ATEN.mul.Tensor),
        ),
        _same,
    ),
}


class _Lift:
    """Images by the sequences that they stand for, while a graph is rewritten."""

    def __init__(self, module: Graph) -> None:
        self.module = module
        self.images: dict[Node, Node] = {}

    def of(self, sequence: Any, user: Node) -> Node:
        """Return the image of a sequence, made before its user if there is none yet."""
        if sequence not in self.images:
            line = _call(self.module, user, _ATEN.unsqueeze.default, sequence, _LINE)
            layout = {"memory_format": torch.channels_last}
            self.images[sequence] = _call(
                self.module, user, _ATEN.clone.default, line, kwargs=layout
            )
        return self.images[sequence]

    def weight(self, weight: Any, user: Node) -> Node | None:
        """Return a constant weight as an image's, None if it is computed from what comes in."""
        if not _is_constant(weight):
            return None
        value = _attribute(self.module, str(weight.target)).detach().unsqueeze(_LINE)
        one = value.shape[1] == 1
        layout = torch.contiguous_format if one else torch.channels_last
        return _add_constant(self.module, user, value.clone(memory_format=layout))

    def call(self, node: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
        """Put an operator in the place of `node`."""
        return _call(self.module, node, target, *args, kwargs=kwargs)


def lift_sequences(module: Graph) -> list[Finding]:
    """Run 1-D convolutions, and what stands between them, over images of one line."""
    lift = _Lift(module)
    findings = []
    for node in list(module.graph.nodes):
        if node.op != "call_function":
            continue
        with module.graph.inserting_before(node):
            image = _lifted(lift, node)
            if image is None:
                continue
            sequence = _call(module, node, _ATEN.squeeze.dims, image, [_LINE])
        if node.target in _LAYERS:
            told = "A 1-D convolution runs as a 2-D one over images of one line, which the quantizer knows."
            findings.append(_mended(image, told))
        lift.images[sequence] = image
        node.replace_all_uses_with(sequence)
        module.graph.erase_node(node)
    return findings


def _lifted(lift: _Lift, node: Node) -> Node | None:
    """Return what takes the node's place, over images; None if it stays."""
    sources = [source for source in node.all_input_nodes if not _is_constant(source)]
    if any(
        not _is_sequence(source.meta.get("val")) for source in sources if source not in lift.images
    ):
        return None
    if node.target in _LAYERS:
        return _LAYERS[node.target](lift, node)
    # Other constants beside an image would be broadcast over other dimensions.
    beside = len(sources) < len(node.all_input_nodes) and node.target not in _BY_CHANNEL
    if node.target in _FOLLOWERS and not beside and all(s in lift.images for s in sources):
        return _FOLLOWERS[node.target](lift, node)
    return None


def _is_sequence(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 3


# --- graphs ---------------------------------------------------------------------------------------------------------


def _schema(target: Any) -> Any:
    return target._schema  # noqa: SLF001  the only place where torch keeps it


def _is_constant(value: Any) -> bool:
    return isinstance(value, Node) and value.op == "get_attr"


def _attribute(module: Graph, name: str) -> Any:
    return operator.attrgetter(name)(module)


def _call(module: Graph, like: Node, target: Any, *args: Any, kwargs: Any = None) -> Node:
    node = module.graph.call_function(target, args, kwargs or {})
    node.meta = {key: value for key, value in like.meta.items() if key != "val"}
    return node


def _add_constant(module: Graph, before: Node, value: torch.Tensor) -> Node:
    """Register a constant like a model's own weights."""
    number = 0
    while hasattr(module, name := f"mended_{number}"):
        number += 1
    module.register_parameter(name, torch.nn.Parameter(value.detach(), requires_grad=False))
    with module.graph.inserting_before(before):
        node = module.graph.get_attr(name)
    node.meta["val"] = value
    return node


def _mended(node: Node, message: str) -> Finding:
    return Finding("mended", layer_of(node) or node.name, message)
