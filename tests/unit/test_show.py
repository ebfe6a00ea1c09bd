"""The table for people: evidence apart, units said, nothing hidden."""

from __future__ import annotations

import pytest
from rich.console import Console

from bench import show
from bench.record import (
    BoardFacts,
    EngineFacts,
    Evidence,
    Issue,
    Measure,
    ModelFacts,
    ProgramFacts,
    Record,
    Status,
    measured,
)


def _record(board: str, *measures: Measure, status: Status = Status.VALID) -> Record:
    return Record(
        run_id="00000000",
        time_utc="2026-01-01T00:00:00Z",
        board=BoardFacts(id=board, cpu="cortex-m4", clock_hz=1),
        device=board,
        attachment="emulator",
        model=ModelFacts(name="m", source_sha256="", weights_sha256="", trained=False),
        scheme="int8",
        calibration_sha256="",
        dataset_sha256="",
        engine=EngineFacts(name="lab", version="1"),
        program=ProgramFacts(
            sha256="", pte_bytes=1, planned_bytes=1, operators={}, int8_mac_fraction=1.0, macs=1000
        ),
        images=(),
        compiler="",
        workload_id="",
        oracle="",
        corrections=(),
        tools={},
        commit="",
        dirty=False,
        status=status,
        issues=() if measures else (Issue(code="deadline", message="went silent"),),
        retries=0,
        measures=measures,
    )


def _text(*records: Record) -> list[str]:
    console = Console(width=220, no_color=True)
    texts = []
    for table in show.tables(records):
        with console.capture() as captured:
            console.print(table)
        texts.append(captured.get())
    return texts


def test_an_emulator_and_silicon_never_share_a_table() -> None:
    """G20: two rows for one model, QEMU 1,204,332 and an STM32F446 9,882,101: two tables, units said."""
    qemu = _record("qemu", measured("latency_first", "instructions", Evidence.COUNT, 1_204_332))
    real = _record("f446", measured("latency_first", "cycles", Evidence.SILICON, 9_882_101))

    emulated, silicon = _text(qemu, real)

    assert "1,204,332 instr" in emulated
    assert "not cycles" in emulated
    assert "f446" not in emulated
    assert "9,882,101 cycles" in silicon
    assert "qemu" not in silicon


def test_no_milliseconds_are_shown_of_an_emulator() -> None:
    """A count times a clock is no time."""
    (table,) = _text(_record("qemu", measured("latency_first", "instructions", Evidence.COUNT, 1)))

    assert " ms" not in table


def test_an_invalid_record_is_shown_with_its_reason() -> None:
    """In a table of its own, without figures."""
    (table,) = _text(_record("b", status=Status.INVALID))

    assert "nothing was measured" in table
    assert "deadline: went silent" in table


@pytest.mark.parametrize(("differ", "shown"), [(0, "0 of 10"), (3, "3 of 10")])
def test_differing_elements_are_shown_with_their_number(differ: int, shown: str) -> None:
    """A mismatch is never only a percentage."""
    record = _record(
        "b",
        measured("latency_first", "instructions", Evidence.COUNT, 1),
        measured("mismatch_host_int8", "elements", Evidence.EMULATED, differ, n=10),
    )

    assert shown in _text(record)[0]


def test_an_estimate_stands_apart_with_its_band() -> None:
    """Counted and estimated latency of one record: two tables, and the estimate never without its band."""
    estimate = measured("latency", "est_cycles", Evidence.ESTIMATE, 1000).model_copy(
        update={"band": (900.0, 1400.0), "source": "-10 % to +40 %, from 8 held anchors"}
    )
    record = _record(
        "qemu", measured("latency_first", "instructions", Evidence.COUNT, 777), estimate
    )

    counted, estimated = _text(record)

    assert "777 instr" in counted
    assert "est. cycles" not in counted
    assert "1,000 est. cycles │ 900 - 1,400" in estimated
    assert "from 8 held anchors" in estimated
