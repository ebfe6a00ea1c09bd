"""What a record says beside its measures: what ran, where, made by what."""

from __future__ import annotations

import hashlib
import secrets
import sys
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Literal

from bench import process
from bench.cache import PROJECT
from bench.catalogue import source_of
from bench.model import FORWARD
from bench.record import (
    BoardFacts,
    EngineFacts,
    ImageFacts,
    ModelFacts,
    ProgramFacts,
    Record,
    Status,
)
from bench.targets.device import DeviceTarget
from bench.targets.twin import TwinTarget

if TYPE_CHECKING:
    from bench.image import Image
    from bench.pipeline import Attempt, Plan
    from bench.program import Manifest


def blank_record(attempt: Attempt, engine: str, version: str) -> Record:
    """Return a record with everything but measures: invalid until they are there."""
    case, image = attempt.case, attempt.image
    manifest = attempt.program.manifest
    operators: dict[str, int] = {}
    for operator in manifest.operators:
        operators[operator.operator] = operators.get(operator.operator, 0) + 1
    head, dirty = commit()
    return Record(
        run_id=secrets.token_hex(4),
        time_utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        board=BoardFacts(id=case.board.id, cpu=case.board.cpu, clock_hz=case.board.clock_hz),
        device=case.board.id,
        attachment=attempt.target.attachment,
        model=ModelFacts(
            name=manifest.model,
            source_sha256=manifest.source_sha256,
            weights_sha256=manifest.weights_sha256,
            trained=manifest.trained,
        ),
        scheme=manifest.scheme,
        calibration_sha256=manifest.calibration_sha256,
        dataset_sha256=manifest.dataset_sha256,
        engine=EngineFacts(name=engine, version=version),
        program=ProgramFacts(
            sha256=manifest.pte_sha256,
            pte_bytes=manifest.pte_bytes,
            planned_bytes=manifest.planned_bytes,
            operators=operators,
            int8_mac_fraction=manifest.int8_mac_fraction,
            macs=manifest.macs,
        ),
        images=(image_facts(attempt, image, "lab"),),
        compiler=_compiler(case.board.host is not None),
        workload_id=_workload_id(manifest, engine, attempt.plan),
        oracle=manifest.oracle.name,
        corrections=manifest.oracle.corrections,
        tools={
            **manifest.versions,
            "target": attempt.target.version(),
            "python": sys.version.split()[0],
        },
        commit=head,
        dirty=dirty,
        status=Status.INVALID,
        issues=(),
        retries=0,
        measures=(),
    )


def image_facts(attempt: Attempt, image: Image, role: Literal["lab", "deployment"]) -> ImageFacts:
    """Return the identity and section sizes (bytes) of an image, and whether it is the one that ran.

    A device runs the lab image alone: the deployment image is linked for it.
    """
    board = attempt.case.board
    linked_only = role == "deployment" and isinstance(attempt.target, DeviceTarget)
    stands_in = isinstance(attempt.target, TwinTarget) and source_of(board) is board
    sizes = {"code": image.code_bytes, "data": image.data_bytes, "bss": image.bss_bytes}
    return ImageFacts(
        role=role,
        build_id=image.build_id,
        sha256=image.sha256,
        sizes=sizes,
        ran=not linked_only and not stands_in,
    )


def _workload_id(manifest: Manifest, engine: str, plan: Plan) -> str:
    """Hash the intent: what is run and how, not the program's bytes, which change with a torch version."""
    intent = (
        manifest.source_sha256,
        manifest.weights_sha256,
        manifest.dataset_sha256,
        manifest.calibration_sha256,
        manifest.scheme,
        *([manifest.method] if manifest.method != FORWARD else []),
        engine,
        repr(plan.options),
        repr(plan.samples),
        *([manifest.pack] if manifest.pack else []),
    )
    return hashlib.sha256("\0".join(intent).encode()).hexdigest()[:16]


@cache
def commit() -> tuple[str, bool]:
    """Return the project's commit and whether the tree differs from it; ("", True) outside a repository."""
    head = process.run(["git", "rev-parse", "HEAD"], deadline_s=20.0, cwd=PROJECT)
    if head.exit_code != 0:
        return "", True
    status = process.run(["git", "status", "--porcelain"], deadline_s=20.0, cwd=PROJECT)
    return head.stdout.decode().strip(), bool(status.stdout.strip())


@cache
def _compiler(host: bool) -> str:
    compiler = "g++" if host else "arm-none-eabi-g++"
    done = process.run([compiler, "--version"], deadline_s=20.0)
    return done.stdout.decode("utf-8", "replace").splitlines()[0]
