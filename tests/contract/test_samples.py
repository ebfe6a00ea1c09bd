"""Where samples vary, inferences are measured until the interval of their median is narrow; the record says how narrow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.bundle import Options
from bench.pipeline import Attempt, RunFailedError, run_case
from bench.record import Measure, Record, Status
from bench.sampling import RUN_SAMPLES, Wanted
from bench.targets.fake import FakeTarget

HZ = 25_000_000


def on_silicon(attempt: Attempt, **plan: object) -> Attempt:
    """Return the attempt on a board that measures cycles."""
    board = attempt.case.board.model_copy(update={"evidence": "silicon", "qemu": None})
    case = replace(attempt.case, board=board)
    return replace(attempt, case=case, plan=replace(attempt.plan, **plan))  # type: ignore[arg-type]


def latency(record: Record) -> Measure:
    """Return the warm latency."""
    found = record.find("latency", "cycles")
    assert found is not None
    return found


def noisy(run: int, i: int) -> int:
    """Return ticks with a deviation of 2 %, the same in every test."""
    return int(1_000_000 + 20_000 * np.random.default_rng(run * 1000 + i).standard_normal())


@pytest.mark.parametrize("rate", [0.97, 1.03, 2.0])
def test_a_part_at_another_clock_leaves_an_invalid_record(
    rate: float, attempt: Attempt, target: FakeTarget
) -> None:
    """Asked for on parts alone; more than 2 % off, nothing that was timed is kept, and the fault says what was seen."""
    target.clock_rate = rate

    with pytest.raises(RunFailedError) as caught:
        run_case(on_silicon(attempt))

    assert ("clock-mismatch", Status.INVALID) == (
        caught.value.fault.code,
        caught.value.record.status,
    )
    assert f"{25 * rate:.3f} MHz" in caught.value.fault.what
    assert () == caught.value.record.measures


def test_the_clock_is_not_checked_on_an_emulator(attempt: Attempt, target: FakeTarget) -> None:
    """Its time is not this machine's."""
    target.clock_rate = 0.5

    assert Status.VALID is run_case(attempt).record.status


def test_an_emulator_runs_once(attempt: Attempt, target: FakeTarget) -> None:
    """Counts are what they are: no further run, no interval, three equal samples."""
    record = run_case(attempt).record
    found = record.find("latency", "instructions")

    assert 1 == target.runs
    assert found is not None
    assert found.interval is None
    assert found.summary is not None
    assert (3, 0.0) == (found.summary.n, found.summary.spread)


def test_steady_silicon_runs_twice(attempt: Attempt, target: FakeTarget) -> None:
    """Three equal samples prove nothing, 35 do."""
    found = latency(run_case(on_silicon(attempt)).record)

    assert 2 == target.runs
    assert (1600.0, 1600.0) == found.interval
    assert 3 + RUN_SAMPLES == len(found.values)
    assert "95 % interval of the median 0.00% wide" in found.source


def test_noise_is_measured_until_the_interval_is_narrow(
    attempt: Attempt, target: FakeTarget
) -> None:
    """With 2 % of noise 1 % takes more samples than the first further run; what was reached is in the record."""
    target.latency_ticks = noisy

    record = run_case(on_silicon(attempt)).record
    found = latency(record)

    assert found.interval is not None
    assert (found.interval[1] - found.interval[0]) / found.median <= 0.0101
    assert target.runs > 2
    assert 3 + RUN_SAMPLES * (target.runs - 1) == len(found.values)
    assert found.values[:3] == (noisy(0, 0), noisy(0, 1), noisy(0, 2))
    first = record.find("latency_first", "cycles")
    assert first is not None
    assert target.runs == len(first.values)
    assert Status.VALID is record.status
    assert "wide-interval" not in {issue.code for issue in record.issues}


def test_what_cannot_be_reached_is_told(attempt: Attempt, target: FakeTarget) -> None:
    """The record is valid, and says how wide the interval stayed."""
    target.latency_ticks = noisy

    record = run_case(on_silicon(attempt, wanted=Wanted(0.001, samples=64))).record

    assert 64 == len(latency(record).values)
    told = {issue.code: issue.message for issue in record.issues}
    assert Status.VALID is record.status
    assert "wanted 0.10%" in told["wide-interval"]


@pytest.mark.parametrize(
    "plan", [{"wanted": Wanted(0.0)}, {"options": Options(warmup=0, iterations=0)}]
)
def test_more_is_not_measured_unasked(
    attempt: Attempt, target: FakeTarget, plan: dict[str, object]
) -> None:
    """Width 0, or no measured inference at all: one run."""
    target.latency_ticks = noisy
    run_case(on_silicon(attempt, **plan))

    assert 1 == target.runs


def test_windows_around_an_inference_are_apart(attempt: Attempt) -> None:
    """Copying in, inference and reading out, cold and warm, each with its samples; load is its own."""
    record = run_case(attempt).record
    found = {m.name: len(m.values) for m in record.measures if m.summary is not None}

    assert found == {
        "load": 1,
        **dict.fromkeys(("latency_first_pre", "latency_first", "latency_first_post"), 1),
        **dict.fromkeys(("latency_pre", "latency", "latency_post"), 3),
    }


def test_every_reset_adds_its_samples(attempt: Attempt) -> None:
    """Cold inferences come one a reset."""
    record = run_case(replace(attempt, plan=replace(attempt.plan, resets=4))).record

    assert [4, 12] == [
        len(found.values)
        for name in ("latency_first", "latency")
        if (found := record.find(name)) is not None
    ]


def test_silicon_has_the_empty_window_taken_off(attempt: Attempt, target: FakeTarget) -> None:
    """What reading the counter takes is not the inference's."""
    target.damage = lambda raw, _run: _with_overhead(raw)
    found = latency(run_case(on_silicon(attempt, wanted=Wanted(0.0))).record)

    assert {1600.0 - 23} == set(found.values)
    assert "an empty window's 23 taken off" in found.source


def _with_overhead(raw: bytes) -> bytes:
    from bench.wire import frame, read_lines  # noqa: PLC0415  the one test that edits lines

    lines, _, _ = read_lines(raw)
    bodies = [f"{one.kind} " + " ".join(f"{k}={v}" for k, v in one.fields.items()) for one in lines]
    edited = [body.replace("overhead=0", "overhead=23") for body in bodies]
    return b"".join(frame(seq, body) for seq, body in enumerate(edited))
