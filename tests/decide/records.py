"""Makers of records: short ones, with what a test says and the rest plain."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import store
from bench.record import (
    BoardFacts,
    EngineFacts,
    Evidence,
    ImageFacts,
    Issue,
    Measure,
    ModelFacts,
    ProgramFacts,
    Record,
    Status,
    measured,
)

CLOCKS = {"mps2-an386": ("cortex-m4", 25_000_000), "mps3-an547": ("cortex-m55", 32_000_000)}
_COUNTER = itertools.count(1)
START = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)


def night(number: int) -> str:
    """Return the time of the run of a night."""
    return (START + timedelta(days=number)).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_record(*measures: Measure, board: str = "mps2-an386", model: str = "ds_cnn",
                scheme: str = "int8", engine: str = "lab", at: int | str = 0,
                status: Status = Status.VALID, compiler: str = "gcc 12", qemu: str = "QEMU 7.2",
                issues: tuple[Issue, ...] = (), **facts: Any) -> Record:  # fmt: skip
    """Return a record; `facts` replace its plain fields."""
    cpu, clock_hz = CLOCKS.get(board, ("cortex-m33", 64_000_000))
    weights = facts.pop("weights", "w")
    operators = facts.pop("operators", {"cortex_m::quantized_conv2d.out": 1})
    intent = f"{model}{weights}{scheme}{engine}{facts.pop('options', '')}"
    whole = Record(
        run_id=f"{next(_COUNTER):08x}",
        time_utc=at if isinstance(at, str) else night(at),
        board=BoardFacts(id=board, cpu=cpu, clock_hz=clock_hz),
        device=board,
        attachment="emulator",
        model=ModelFacts(name=model, source_sha256="s", weights_sha256=weights, trained=True),
        scheme=scheme,
        calibration_sha256="c",
        dataset_sha256="d",
        engine=EngineFacts(name=engine, version="1"),
        program=ProgramFacts(
            sha256=facts.pop("program_sha256", "p"),
            pte_bytes=1000,
            planned_bytes=2000,
            operators=operators,
            int8_mac_fraction=1.0,
            macs=1000,
        ),
        images=(
            ImageFacts(
                role="lab",
                build_id=facts.pop("build_id", "b"),
                sha256="i",
                sizes={"code": 65_000, "data": 100, "bss": 700},
                ran=True,
            ),
        ),
        compiler=compiler,
        workload_id=hashlib.sha256(intent.encode()).hexdigest()[:16],
        oracle="o",
        corrections=(),
        tools={"target": qemu, "torch": "2.13.0"},
        commit="0123456789abcdef",
        dirty=False,
        status=status,
        issues=issues,
        retries=0,
        measures=measures,
    )
    return whole.model_copy(update=facts)


def instructions(value: float) -> Measure:
    """Return a latency counted on an emulator."""
    return measured("latency", "instructions", Evidence.COUNT, value, value, value)


def cycles(*values: float) -> Measure:
    """Return a latency of a real part."""
    return measured("latency", "cycles", Evidence.SILICON, *values)


def estimate(value: float, low: float, high: float, source: str = "") -> Measure:
    """Return a latency of a timing model."""
    made = measured("latency", "est_cycles", Evidence.ESTIMATE, value, source=source)
    return made.model_copy(update={"band": (low, high)})


def nbytes(name: str, value: float) -> Measure:
    """Return a size."""
    return measured(name, "bytes", Evidence.STATIC, value)


Save = Callable[..., Path]


def saver(root: Path) -> Save:
    """Return a function that saves records below `root` and returns it."""

    def write(*records: Record, attachments: dict[str, bytes] | None = None) -> Path:
        for record in records:
            store.save(record, attachments or {}, root)
        return root

    return write
