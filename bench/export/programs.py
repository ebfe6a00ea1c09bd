"""Make the files of a program, for each cpu that is asked for."""

from __future__ import annotations

import hashlib
import importlib.metadata
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.errors import ExportError, InputError, LabError
from bench.export.calibration import degenerate_findings
from bench.export.ends import Ends, drop_float_ends, float_ends
from bench.export.intermediates import collect
from bench.export.lowering import (
    CPU_METHOD,
    capture,
    emit,
    lower,
    target_config,
    to_edge_dialect,
)
from bench.export.oracle import (
    HostReference,
    float_reference,
    graph_identity,
    host_reference,
    layout_bytes,
)
from bench.export.prepare import Prepared, prepare, sha256_tensors
from bench.export.report import Facts, find_plan, read_facts, read_program
from bench.model import FORWARD, SCHEMES, VERSIONED_PACKAGES
from bench.program import Manifest, is_quantized

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from executorch.backends.cortex_m.library import cmsis_nn
    from executorch.backends.cortex_m.target_config import CortexMTargetConfig
    from torch.export import ExportedProgram

    from bench.export.lowering import Captured
    from bench.export.prepare import Inputs
    from bench.model import ModelDefinition


@dataclass(frozen=True)
class ProgramFiles:
    """The files of one program, by name."""

    cpu: str
    manifest: Manifest
    files: dict[str, bytes]

    def write(self, folder: Path) -> None:
        """Write them into an existing folder."""
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


@dataclass(frozen=True)
class Failed:
    """A cpu for which there is no program."""

    cpu: str
    error: LabError


@dataclass(frozen=True)
class _Lowered:
    program: ExportedProgram
    others: dict[str, ExportedProgram]
    ends: Ends
    identity: str


def _lowered(
    edge: ExportedProgram,
    others: dict[str, ExportedProgram],
    scheme: str,
    config: CortexMTargetConfig,
) -> _Lowered:
    finish = drop_float_ends if scheme == "int8-ends" else float_ends
    program = lower(edge, scheme, config)
    lowered = {name: lower(other, scheme, config) for name, other in others.items()}
    for other in lowered.values():
        finish(other)
    return _Lowered(program, lowered, finish(program), graph_identity(program))


def export_programs(
    name: str,
    definition: ModelDefinition,
    *,
    scheme: str,
    cpus: Sequence[str],
    samples: int | None,
    model_sha256: str,
    method: str = FORWARD,
    intermediates: bool = False,
) -> Iterator[ProgramFiles | Failed]:
    """Yield the files for each cpu, as they are ready; with `intermediates`, those of `bench.intermediate` too.

    The program has all methods of the model; its facts and expected outputs are those of `method`.

    The model is quantized and calibrated once, lowered once a CMSIS-NN backend; expected outputs are computed
    once for graphs that compute the same.

    Raises:
        LabError: what holds for every cpu: the model cannot be used, captured or quantized.
    """
    if scheme not in SCHEMES:
        raise InputError(f"there is no scheme {scheme!r}", hint=f"known: {', '.join(SCHEMES)}")
    prepared = prepare(definition.method(method), samples)
    captured = capture(prepared, scheme)
    edge = to_edge_dialect(captured)
    others = {
        other: to_edge_dialect(capture(prepare(definition.method(other), samples), scheme))
        for other in (FORWARD, *definition.methods)
        if other != method
    }
    common = _Common(name, scheme, model_sha256, prepared, captured)
    lowered: dict[cmsis_nn.Backend, _Lowered] = {}
    references: dict[str, HostReference] = {}
    floats: dict[str, tuple[bytes, ...]] = {}
    for cpu in cpus:
        try:
            config = target_config(cpu)
            if config.backend not in lowered:
                lowered[config.backend] = _lowered(edge, others, scheme, config)
            of_backend = lowered[config.backend]
            given = tuple(of_backend.ends.quantize(sample) for sample in prepared.samples)
            emitted = emit({method: of_backend.program} | of_backend.others, scheme, cpu, method)
            facts = read_facts(emitted, captured, of_backend.program, of_backend.ends)
            _check_cpu_method(emitted.pte, cpu)
            if of_backend.identity not in references:
                references[of_backend.identity] = host_reference(
                    of_backend.program, given, facts.outputs
                )
                floats[of_backend.identity] = float_reference(
                    prepared.module, prepared.samples, facts.outputs
                )
            made = common.files(
                cpu,
                emitted.pte,
                given,
                facts,
                references[of_backend.identity],
                floats[of_backend.identity],
            )
            if intermediates:
                made.files.update(
                    collect(captured, of_backend.program, emitted, given, prepared.samples)
                )
            yield made
        except LabError as error:
            yield Failed(cpu, error)


@dataclass(frozen=True)
class _Common:
    """What the programs of one model and scheme share."""

    name: str
    scheme: str
    model_sha256: str
    prepared: Prepared
    captured: Captured

    def files(
        self,
        cpu: str,
        pte: bytes,
        given: tuple[Inputs, ...],
        facts: Facts,
        reference: HostReference,
        floats: tuple[bytes, ...],
    ) -> ProgramFiles:
        """Put one program together."""
        prepared = self.prepared
        manifest = self._manifest(cpu, pte, facts, reference)
        files = {"program.pte": pte, "program.json": manifest.to_json().encode()}
        for i, info in enumerate(facts.inputs):
            files[f"input_{i}.bin"] = b"".join(
                layout_bytes(sample[i], info.dim_order) for sample in given
            )
        for i, data in enumerate(reference.outputs):
            files[f"host_int8_{i}.bin"] = data
        for i, data in enumerate(floats):
            files[f"float_{i}.bin"] = data
        if prepared.labels:
            files["labels.bin"] = struct.pack(f"<{len(prepared.labels)}i", *prepared.labels)
        return ProgramFiles(cpu, manifest, files)

    def _manifest(self, cpu: str, pte: bytes, facts: Facts, reference: HostReference) -> Manifest:
        prepared, definition = self.prepared, self.prepared.definition
        flat = [tensor for inputs in prepared.calibration for tensor in inputs]
        state = prepared.module.state_dict()
        calibrated = is_quantized(self.scheme)
        shared = [f for f in prepared.findings if calibrated or f.code != "random-calibration"]
        findings = [*shared, *degenerate_findings(self.captured.ranges)]
        return Manifest(
            model=self.name,
            cpu=cpu,
            scheme=self.scheme,
            trained=definition.trained,
            source_sha256=self.model_sha256,
            weights_sha256=sha256_tensors([state[key] for key in sorted(state)]),
            calibration_sha256=sha256_tensors(flat) if calibrated else "",
            dataset_sha256=definition.dataset_sha256,
            pte_sha256=hashlib.sha256(pte).hexdigest(),
            pte_bytes=len(pte),
            method=facts.method,
            inputs=facts.inputs,
            outputs=facts.outputs,
            output_step=facts.output_step,
            planned_bytes=facts.planned_bytes,
            macs=facts.macs,
            int8_mac_fraction=facts.int8_mac_fraction,
            operators=facts.operators,
            findings=(*findings, *facts.findings, *reference.findings),
            oracle=reference.oracle,
            expect_host_int8=bool(reference.outputs),
            expect_float=True,
            sample_count=len(prepared.samples),
            labelled=bool(prepared.labels),
            classes=definition.classes,
            versions={p: importlib.metadata.version(p) for p in VERSIONED_PACKAGES},
        )


def _check_cpu_method(pte: bytes, cpu: str) -> None:
    plan = find_plan(read_program(pte), CPU_METHOD)
    value = plan.values[plan.outputs[0]].val
    if getattr(value, "string_val", None) != cpu:
        raise ExportError(f"the program says it is for {value!r}, not for {cpu}")
