"""What a program consists of and what its user should know: operators, MACs, float nodes, copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from executorch.exir._serialize import _deserialize_pte_binary
from executorch.exir.schema import KernelCall
from torch._ops import OpOverload

from bench.errors import ExportError
from bench.export.calibration import layer_of
from bench.export.lowering import TAG
from bench.export.macs import count_macs, shape_of, value_of
from bench.program import Finding, OperatorInfo, TensorInfo, is_quantized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from executorch.exir.schema import ExecutionPlan, Program
    from torch.export import ExportedProgram

    from bench.export.ends import Ends
    from bench.export.lowering import Captured, Emitted

BOUNDARY = (
    "quantize_per_tensor",
    "dequantize_per_tensor",
    "quantize_per_channel",
    "dequantize_per_channel",
)
LAYOUT = (
    *(
        "_clone_dim_order",
        "_to_dim_order_copy",
        "clone",
        "permute_copy",
        "transpose_copy",
        "transpose",
    ),
    *(
        "view_copy",
        "as_strided_copy",
        "expand_copy",
        "squeeze_copy",
        "unsqueeze_copy",
        "slice_copy",
    ),
    *(
        "select_copy",
        "split_copy",
        "split_with_sizes_copy",
        "unbind_copy",
        "cat",
        "stack",
        "repeat",
        "pad",
    ),
)
# Copies that may have nothing to do.
IDENTITIES = ("dim_order_ops::_clone_dim_order.out", "cortex_m::pad.out")

# What helps where the quantizer leaves an operator of ATen float; the quantizer's own reason comes first.
ADVICE = {
    "softmax": "Softmax is int8 only over the last dimension (over channels for images): permute before it.",
    "conv2d": "int8 convolutions need channels-last activations.",
    "conv2d.padding": "padding='same' of an even kernel has no CMSIS-NN form: use nn.ZeroPad2d before padding=0.",
    "mul": "Constants and broadcast operands stay float: fold a constant factor into the layer before it.",
    "add": "Constants and broadcast operands stay float: fold a constant offset into a bias.",
    "sub": "Constants and broadcast operands stay float: fold a constant offset into a bias.",
    "bmm": "int8 matmul needs two activations of rank 3 with equal batch.",
    "matmul": "int8 matmul needs two activations of rank 3 with equal batch.",
    "scaled_dot_product_attention": "Write attention out as matmul, softmax, matmul over rank 3 tensors.",
}


@dataclass(frozen=True)
class Facts:
    """A program's own facts, read back from its bytes.

    Attributes:
        output_step: scale of each output's last quantization, 0.0 if it has none.
    """

    method: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    planned_bytes: int
    operators: tuple[OperatorInfo, ...]
    output_step: tuple[float, ...]
    findings: tuple[Finding, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates per inference."""
        return sum(o.macs for o in self.operators)

    @property
    def int8_mac_fraction(self) -> float:
        """Share of MACs in int8; for a program without any, whether all its arithmetic is int8."""
        if self.macs:
            return sum(o.macs for o in self.operators if o.kind == "int8") / self.macs
        return 0.0 if any(o.kind == "float" for o in self.operators) else 1.0


def read_facts(emitted: Emitted, captured: Captured, lowered: ExportedProgram, ends: Ends) -> Facts:
    """Read a program back and join it with the graph that it was made from.

    Raises:
        ExportError: the program is not what the graph says.
    """
    program = read_program(emitted.pte)
    plan = find_plan(program, emitted.method)
    nodes = nodes_of_instructions(plan, emitted.graph)
    operators = tuple(
        OperatorInfo(
            index,
            name,
            _layer(node),
            _kind(name, node),
            count_macs(name, node),
            _activations(node, lowered),
            shape_of(node),
        )
        for index, (name, node) in enumerate(nodes)
    )
    findings: list[Finding] = []
    if is_quantized(captured.scheme):
        findings += _float_findings(nodes, operators, captured)
        findings += _portable_findings(operators)
    findings += _layout_findings(nodes, operators)
    return Facts(
        method=plan.name,
        inputs=ends.of_inputs([tensor_info(plan, i) for i in plan.inputs]),
        outputs=ends.of_outputs([tensor_info(plan, i) for i in plan.outputs]),
        planned_bytes=sum(plan.non_const_buffer_sizes),
        operators=operators,
        output_step=tuple(
            end.scale or step
            for end, step in zip(ends.outputs, _output_steps(lowered), strict=True)
        ),
        findings=(*captured.mended, *ends.findings, *findings),
    )


def read_program(pte: bytes) -> Program:
    """Return the deserialized flatbuffer of a .pte."""
    return _deserialize_pte_binary(pte).program


def find_plan(program: Program, method: str) -> ExecutionPlan:
    """Return the execution plan of a method; raises ExportError if there is none."""
    for plan in program.execution_plan:
        if plan.name == method:
            return plan
    names = [plan.name for plan in program.execution_plan]
    raise ExportError(f"the program has no method {method!r}, it has {names}")


def nodes_of_instructions(
    plan: ExecutionPlan, graph: torch.fx.Graph
) -> list[tuple[str, torch.fx.Node]]:
    """Pair each instruction with its node: both are in order of execution."""
    nodes = iter(n for n in graph.nodes if isinstance(n.target, OpOverload))
    pairs = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instr_args
        if not isinstance(call, KernelCall):
            raise ExportError(
                f"the program has an instruction {type(call).__name__}",
                hint="control flow and delegates are not supported",
            )
        operator = plan.operators[call.op_index]
        name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        node = next((n for n in nodes if n.target.name() == name), None)
        if node is None:
            raise ExportError(f"instruction {name} is not in the graph")
        pairs.append((name, node))
    return pairs


def _layer(node: torch.fx.Node) -> str:
    """Return the node's module path; quantize and dequantize belong to the layer they serve."""
    if layer := layer_of(node):
        return layer
    name = str(node.target)
    neighbours: Sequence[Any] = ()
    if "dequantize" in name:
        neighbours = list(node.users)
    elif "quantize" in name:
        neighbours = [node.args[0]]
    for other in neighbours:
        if isinstance(other, torch.fx.Node) and (layer := layer_of(other)):
            return layer
    return ""


def _activations(node: torch.fx.Node, lowered: ExportedProgram) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of what goes in and is no weight, constant or scratch."""
    given = set(lowered.graph_signature.user_inputs)
    return tuple(
        shape_of(source)
        for source in node.all_input_nodes
        if (source.name in given if source.op == "placeholder" else not is_alloc(source))
    )


def is_alloc(node: torch.fx.Node) -> bool:
    """Whether a node only reserves memory: for an out argument or for scratch."""
    return getattr(node.target, "__name__", "") == "alloc"


def _kind(operator: str, node: torch.fx.Node) -> str:
    name = operator.partition("::")[2].partition(".")[0]
    if name in BOUNDARY:
        return "boundary"
    if name in LAYOUT:
        return "layout"
    return "int8" if value_of(node).dtype == torch.int8 else "float"


def _float_findings(
    nodes: list[tuple[str, torch.fx.Node]], operators: Sequence[OperatorInfo], captured: Captured
) -> list[Finding]:
    """Return one finding for each node of the model that stayed float, with the quantizer's reason."""
    origins: dict[str, list[int]] = {}
    for info, (_, node) in zip(operators, nodes, strict=True):
        if info.kind == "float":
            tag = str(node.meta.get("custom", {}).get(TAG, node.name))
            origins.setdefault(tag, []).append(info.index)
    sources: dict[str, torch.fx.Node] = {}
    for node in captured.program.graph.nodes:
        sources.setdefault(node.meta.get("custom", {}).get(TAG, ""), node)
    findings = []
    for tag, indices in origins.items():
        source = sources.get(tag)
        target = str(getattr(source, "target", "")) or operators[indices[0]].operator
        aten = target.removeprefix("aten.")
        advice = ADVICE.get(aten) or ADVICE.get(aten.partition(".")[0], "")
        if tag in captured.rejections:
            reason = f"The quantizer: {captured.rejections[tag]}"
        elif tag in captured.matched:
            reason = "It was quantized, but no CMSIS-NN operator takes its form"
        else:
            reason = f"The quantizer has no pattern for {target}"
        names = sorted({operators[i].operator for i in indices})
        layer = operators[indices[0]].layer
        findings.append(
            Finding(
                "float-node",
                f"{layer} ({tag})" if layer else tag,
                f"{reason}. It runs as {', '.join(names)}. {advice}".rstrip(),
            )
        )
    return findings


def _layout_findings(
    nodes: list[tuple[str, torch.fx.Node]], operators: Sequence[OperatorInfo]
) -> list[Finding]:
    """Return one finding for each operator of a layer that only moves data."""
    moved: dict[tuple[str, str], list[int]] = {}
    first: dict[tuple[str, str], str] = {}
    idle: set[tuple[str, str]] = set()
    for info, (_, node) in zip(operators, nodes, strict=True):
        if info.kind != "layout":
            continue
        key = (info.layer, info.operator)
        first.setdefault(key, node.name)
        value = value_of(node)
        moved.setdefault(key, []).append(math.prod(shape_of(node)) * value.dtype.itemsize)
        source = node.args[0]
        if info.operator in IDENTITIES and isinstance(source, torch.fx.Node):
            before = value_of(source)
            if before.shape == value.shape and before.stride() == value.stride():
                idle.add(key)
    findings = []
    for (layer, operator), sizes in moved.items():
        calls = f" in {len(sizes)} calls" if len(sizes) > 1 else ""
        text = f"{operator} moves {sum(sizes):,} bytes an inference{calls} and computes nothing."
        if (layer, operator) in idle:
            text += " It changes nothing: drop the dropout or padding that it stands for."
        findings.append(Finding("layout-copy", layer or first[layer, operator], text))
    return findings


def _portable_findings(operators: Sequence[OperatorInfo]) -> list[Finding]:
    """Return one finding for each int8 operator that CMSIS-NN does not run."""
    return [
        Finding(
            "portable-node",
            info.layer or info.operator,
            f"{info.operator} works on int8 data with a plain kernel: CMSIS-NN does not take its form.",
        )
        for info in operators
        if info.kind == "int8" and not info.operator.startswith("cortex_m::")
    ]


def _output_steps(lowered: ExportedProgram) -> tuple[float, ...]:
    """Return the scale of each user output's last quantization, looking through copies."""
    output = next(n for n in reversed(lowered.graph.nodes) if n.op == "output")
    names = lowered.graph_signature.user_outputs
    by_name = {n.name: n for n in output.args[0] if isinstance(n, torch.fx.Node)}
    steps = []
    for name in names:
        node = by_name.get(str(name))
        while node is not None and any(
            f".{layout}." in str(node.target) for layout in (*LAYOUT, "dequantize_per_tensor")
        ):
            if "dequantize_per_tensor" in str(node.target):
                break
            source = node.args[0]
            node = source if isinstance(source, torch.fx.Node) else None
        quantized = node is not None and "dequantize_per_tensor" in str(node.target)
        steps.append(float(node.args[1]) if quantized and node is not None else 0.0)  # type: ignore[arg-type]
    return tuple(steps)


def tensor_info(plan: ExecutionPlan, index: int) -> TensorInfo:
    """Return shape, type and layout of a plan's value; raises ExportError if it is no tensor."""
    tensor: Any = plan.values[index].val
    if not hasattr(tensor, "dim_order"):
        raise ExportError(
            f"an input or output is {type(tensor).__name__}, not a tensor",
            hint="make it a constant of the model, or a tensor",
        )
    dtype = tensor.scalar_type.name.lower()
    name = {"float": "float32", "char": "int8", "byte": "uint8", "short": "int16", "int": "int32"}
    name |= {"long": "int64", "half": "float16", "double": "float64", "bool": "bool"}
    torch_dtype = getattr(torch, name[dtype])
    shape = tuple(tensor.sizes)
    return TensorInfo(
        shape, name[dtype], tuple(tensor.dim_order), math.prod(shape) * torch_dtype.itemsize
    )
