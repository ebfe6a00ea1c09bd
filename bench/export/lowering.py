"""Capture, quantize, lower and emit with ExecuTorch: the only file that knows its flow.

The order and the traps (guards, annotation, edge configuration) follow ExecuTorch 1.5.1's
`backends/cortex_m/test/tester.py` and `examples/arm/aot_arm_compiler.py`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
from executorch.backends.cortex_m.library import cmsis_nn
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.pattern_matcher import PatternMatcher
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.quantizer_reporter import QuantizerReporter
from executorch.backends.cortex_m.target_config import CortexMTargetConfig
from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, to_edge
from executorch.exir.capture._config import EdgeCompileConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.constant_prop_pass import constant_prop_pass
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import ComposableQuantizer

from bench.errors import ExportError, UnknownNameError
from bench.export.calibration import Ranges, watch_ranges
from bench.export.mend import check_scales, split_activations
from bench.export.rewrite import rewrite
from bench.model import first_line
from bench.program import is_quantized
from bench.rewrite.tidy import tidy

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from bench.export.prepare import Prepared
    from bench.program import Finding

CPU_METHOD = "lab_cpu"
TAG = "lab_node"  # in node.meta["custom"], which every stage carries on
# Operators beyond core ATen may have kernels; those that have none are told before anything is flashed.
FLOAT_EDGE_CONFIG = EdgeCompileConfig(_check_ir_validity=False)


@dataclass(frozen=True)
class Captured:
    """A graph before lowering.

    Attributes:
        program: exported, and for int8 quantized and calibrated.
        rejections: by node of the annotated graph, why the quantizer left it float.
        matched: nodes that the quantizer annotated.
        ranges: what calibration saw, empty for float.
        float_graph: the model in float as it was before quantization, batch norms folded; its nodes have the names
            that TAG carries through every later stage.
        mended: what was rewritten before quantization.
    """

    program: ExportedProgram
    scheme: str
    rejections: dict[str, str]
    matched: frozenset[str]
    ranges: tuple[Ranges, ...]
    float_graph: torch.fx.GraphModule
    mended: tuple[Finding, ...]


@dataclass(frozen=True)
class Emitted:
    """A program's bytes and the graph that one of its methods was made from, in order of execution."""

    pte: bytes
    graph: torch.fx.Graph
    method: str


class ReportingQuantizer(CortexMQuantizer):  # type: ignore[misc]  # untyped base
    """CortexMQuantizer that keeps its report in place of logging it."""

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Annotate as the base does, with a reporter that stays readable."""
        self.kept_report = QuantizerReporter(self.quantizers)
        annotated: torch.fx.GraphModule = ComposableQuantizer.annotate(self, model)
        return annotated


class PlanWithImages(MemoryPlanningPass):  # type: ignore[misc]  # untyped base
    """Memory planning that first names the layout of one-channel images.

    Strides of N x 1 x H x W in channels last sort to dim_order [0, 2, 1, 3], which no kernel expects; the
    bytes are those of [0, 2, 3, 1].
    """

    def run(self, graph_module: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        """Mend the specs, then plan."""
        for node in graph_module.graph.nodes:
            specs = node.meta.get("spec")
            for spec in specs if isinstance(specs, tuple | list) else (specs,):
                shape = tuple(getattr(spec, "shape", ()))
                if len(shape) == 4 and shape[1] == 1 and list(spec.dim_order) == [0, 2, 1, 3]:
                    spec.dim_order = [0, 2, 3, 1]
        return super().run(graph_module, *args, **kwargs)


def target_config(cpu: str) -> CortexMTargetConfig:
    """Return ExecuTorch's target of a GCC -mcpu string, `+nodsp` and `+nomve` included.

    Raises:
        UnknownNameError: not a Cortex-M that ExecuTorch knows.
    """
    name, *extensions = cpu.split("+")
    try:
        config = CortexMTargetConfig.from_target_string(name)
        if "nodsp" in extensions:
            return CortexMTargetConfig(config.cpu, isa=cmsis_nn.Backend.SCALAR)
        if "nomve" in extensions:
            return CortexMTargetConfig(config.cpu, isa=cmsis_nn.Backend.DSP)
        config.backend  # noqa: B018  a property that raises for cpus CMSIS-NN does not know
    except ValueError as error:
        raise UnknownNameError(f"ExecuTorch cannot lower for {cpu!r}: {error}") from error
    return config


def capture(prepared: Prepared, scheme: str) -> Captured:
    """Export the model, and for int8 quantize and calibrate it.

    Raises:
        ExportError: torch or ExecuTorch refuse.
    """
    example = prepared.example_inputs
    exported = _step("export the model", _export, prepared.module, example)
    if scheme == "fp32":
        module = exported.module(check_guards=False)
        _tag(module)
        again = _step("export the model", _export, module, example)
        return Captured(again, scheme, {}, frozenset(), (), module, ())
    quantizer = ReportingQuantizer()
    # With guards, prepare_pt2e's passes refuse the guard's call.
    unguarded = exported.module(check_guards=False)
    mended = _step("rewrite the model", rewrite, unguarded)
    if mended:  # for shapes and layouts of what is new
        again = _step("export the rewritten model", _export, unguarded, example)
        unguarded = again.module(check_guards=False)
    _number_paddings(unguarded)
    module = _step("annotate the model", prepare_pt2e, unguarded, quantizer)
    ranges = watch_ranges(module)
    _step("calibrate the model", _calibrate, module, prepared)
    seen = ranges.close()
    float_graph = copy.deepcopy(module)  # its observers pass values through
    converted = _step("quantize the model", convert_pt2e, module)
    _tag(converted)
    program = _step("export the quantized model", _export, converted, example)
    rejections, matched = _read_report(quantizer.kept_report)
    return Captured(program, scheme, rejections, matched, seen, float_graph, mended)


def to_edge_dialect(captured: Captured) -> ExportedProgram:
    """Return the program in ExecuTorch's edge dialect, the same for every target.

    Raises:
        ExportError: ExecuTorch refuses.
    """
    config = _edge_config(captured.scheme)
    edge = _step("lower the model", to_edge, captured.program, compile_config=config)
    program: ExportedProgram = edge.exported_program()
    if captured.scheme == "fp32":
        # Else every inference would transpose the weights of each fully connected layer into RAM.
        program = _step("fold constants", constant_prop_pass, program)
    else:
        _step("split activations", split_activations, program)
    return program


def lower(edge: ExportedProgram, scheme: str, config: CortexMTargetConfig) -> ExportedProgram:
    """Return the program lowered for one CMSIS-NN backend, which is all that the passes read of a target.

    Raises:
        ExportError: ExecuTorch refuses.
    """
    if scheme == "fp32":
        return edge
    manager = CortexMPassManager(copy.deepcopy(edge), target_config=config)
    lowered: ExportedProgram = _step("lower the model to CMSIS-NN operators", manager.transform)
    check_scales(lowered)
    return lowered


def emit(methods: dict[str, ExportedProgram], scheme: str, cpu: str, method: str) -> Emitted:
    """Plan memory, serialize with the cpu in a constant method, and tidy up; the graph is that of `method`.

    Raises:
        ExportError: ExecuTorch refuses.
    """
    manager = EdgeProgramManager(
        {name: copy.deepcopy(lowered) for name, lowered in methods.items()},
        {CPU_METHOD: cpu},
        _edge_config(scheme),
    )
    config = ExecutorchBackendConfig(
        extract_delegate_segments=False, memory_planning_pass=PlanWithImages()
    )
    program = _step("write the program", manager.to_executorch, config)
    return Emitted(tidy(bytes(program.buffer)), program.exported_program(method).graph, method)


def _edge_config(scheme: str) -> EdgeCompileConfig:
    return cortex_m_edge_compile_config() if is_quantized(scheme) else FLOAT_EDGE_CONFIG


def _export(module: torch.nn.Module, example: tuple[torch.Tensor, ...]) -> ExportedProgram:
    with torch.no_grad():
        program: ExportedProgram = torch.export.export(module, example, strict=False)
    return program


def _calibrate(module: torch.nn.Module, prepared: Prepared) -> None:
    with torch.no_grad():
        for inputs in prepared.calibration:
            module(*inputs)


def _number_paddings(module: torch.fx.GraphModule) -> None:
    """Write padding='same' and 'valid' as numbers where that is exact: the quantizer has no pattern for names."""
    names = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
    for node in module.graph.nodes:
        if node.target != torch.ops.aten.conv2d.padding:
            continue
        given: dict[str, Any] = dict(
            zip(names, (None, None, None, [1, 1], "valid", [1, 1], 1), strict=True)
        )
        given |= {**dict(zip(names, node.args, strict=False)), **node.kwargs}
        sides = [
            d * (k - 1) if given["padding"] == "same" else 0
            for k, d in zip(given["weight"].meta["val"].shape[2:], given["dilation"], strict=True)
        ]
        if all(side % 2 == 0 for side in sides):
            given["padding"] = [side // 2 for side in sides]
            node.target = torch.ops.aten.conv2d.default
            node.args, node.kwargs = tuple(given[name] for name in names), {}
    module.recompile()


def _tag(module: torch.fx.GraphModule) -> None:
    """Write each node's name where the later stages keep it, to find its reasons and layer again."""
    for node in module.graph.nodes:
        if node.op == "call_function":
            node.meta["custom"] = {**node.meta.get("custom", {}), TAG: node.name}


def _read_report(reporter: QuantizerReporter) -> tuple[dict[str, str], frozenset[str]]:
    rejections: dict[str, str] = {}
    matched: set[str] = set()
    for report in reporter.quantizers.values():
        for pattern in report.accepted_patterns:
            matched.update(node.name for node in pattern.nodes)
        for rejected in report.rejected_patterns:
            if rejected.rejection_reason == PatternMatcher.REJECT_PREVIOUSLY_ANNOTATED:
                continue
            reason = rejected.rejection_reason.rstrip(".")
            if len(rejected.node_names) > 1:
                reason += f" (as the pattern {' + '.join(rejected.node_names)})"
            for name in rejected.node_names:
                rejections.setdefault(name, reason)
    return rejections, frozenset(matched)


HINTS = (
    (
        ("data-dependent", "GuardOnDataDependent", "DataDependent"),
        "the forward branches on the values of a tensor: use torch.where or torch.cond",
    ),
    (
        ("no attribute 'out'", "out variant", "out variants"),
        "an operator has no out variant in ExecuTorch: replace it",
    ),
)


def _step(what: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call into torch or ExecuTorch; whatever it raises becomes one line, the rest goes to the log."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        hint = next((h for words, h in HINTS if any(w in text for w in words)), "")
        reason = f"{type(error).__name__}: {first_line(error)}"
        root: BaseException = error
        while root.__cause__ is not None:
            root = root.__cause__
        if root is not error:
            reason += f": {first_line(root)}"
        raise ExportError(f"cannot {what}: {reason}", hint=hint) from error
