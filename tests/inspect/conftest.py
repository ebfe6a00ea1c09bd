"""A table of operators, and records that have one beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import operators
from bench.program import OperatorInfo
from bench.record import (
    BoardFacts,
    EngineFacts,
    Evidence,
    ModelFacts,
    ProgramFacts,
    Record,
    Status,
    measured,
)
from bench.store import save

OPERATORS = (
    OperatorInfo(0, "cortex_m::quantize_per_tensor.out", "", "boundary", 0, ((1, 4),), (1, 4)),
    OperatorInfo(1, "cortex_m::quantized_linear.out", "net.0", "int8", 800, ((1, 4),), (1, 200)),
    OperatorInfo(
        2, "cortex_m::dequantize_per_tensor.out", "", "boundary", 0, ((1, 200),), (1, 200)
    ),
)


@pytest.fixture
def table() -> operators.OperatorTable:
    """Three instructions that take 900 of 1,000."""
    return operators.join(
        OPERATORS,
        {0: 100, 1: 750, 2: 50},
        1000,
        unit="instructions",
        evidence="count",
        source="a made-up counter",
    )


def make_record(board: str = "fake-m4", model: str = "toy") -> Record:
    """Return a record with the least that a valid one has."""
    return Record(
        run_id="00c0ffee",
        time_utc="2026-01-02T03:04:05Z",
        board=BoardFacts(id=board, cpu="cortex-m4", clock_hz=25_000_000),
        device=board,
        attachment="emulator",
        model=ModelFacts(name=model, source_sha256="0", weights_sha256="0", trained=False),
        scheme="int8",
        calibration_sha256="0",
        dataset_sha256="",
        engine=EngineFacts(name="lab", version="1"),
        program=ProgramFacts(
            sha256="0",
            pte_bytes=1,
            planned_bytes=1,
            operators={},
            int8_mac_fraction=1.0,
            macs=800,
        ),
        images=(),
        compiler="",
        workload_id="0",
        oracle="",
        corrections=(),
        tools={},
        commit="0",
        dirty=False,
        status=Status.VALID,
        issues=(),
        retries=0,
        measures=(
            measured("latency", "instructions", Evidence.COUNT, 1000),
            measured("latency_first", "instructions", Evidence.COUNT, 1000),
        ),
    )


@pytest.fixture
def results(tmp_path: Path, table: operators.OperatorTable) -> Path:
    """A folder with one record and its table."""
    save(make_record(), {operators.FILE: table.to_json().encode()}, tmp_path / "results")
    return tmp_path / "results"
