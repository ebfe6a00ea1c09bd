"""Every rule of `bench.validity`: what makes a record invalid, degraded or noted, and that the page lists it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from bench import errors, metrics, validity
from bench.cache import PROJECT
from bench.determinism import compare_runs
from bench.pipeline import Attempt, RunFailedError, run_case
from bench.program import Finding
from bench.record import Issue, Record, Status
from bench.targets import Request
from bench.targets.fake import FakeTarget
from bench.validity import RULES, Weight, unwritten
from bench.wire import Guard, RunLog, Transcript

EQUAL = np.array([0.1, 0.9, 0.0], np.float32)


@dataclass
class ChangingTarget(FakeTarget):
    """A device whose second run gives another output and takes longer."""

    def speak(self, request: Request) -> bytes:
        """Return one run's bytes."""
        if self.runs == 1:
            self.ticks += 7
            self.outputs = dict(self.outputs) | {(1, 0): bytes(12)}
        return super().speak(request)


def record_of(attempt: Attempt) -> Record:
    """Run and return the record, without what the state of this clone notes."""
    record = run_case(attempt).record
    issues = tuple(issue for issue in record.issues if issue.code != "dirty-tree")
    return record.model_copy(update={"issues": issues})


def codes(record: Record) -> list[str]:
    """Return the codes of a record's issues."""
    return [issue.code for issue in record.issues]


def run_of(attempt: Attempt, **changes: object) -> metrics.Run:
    """Return a run that was parsed, with parts of its log or board replaced."""
    outcome = run_case(attempt)
    log = replace(outcome.log, **changes)  # type: ignore[arg-type]
    return metrics.Run(attempt.case.board, attempt.program, attempt.image, log, 3)


def judged(run: metrics.Run, *, dirty: bool = False) -> tuple[Status, list[str]]:
    """Return status and codes of a run."""
    nothing = Transcript(b"", 0, timed_out=False, overflowed=False, seconds=0.0)
    found = validity.judge(run, nothing, retries=0, dirty=dirty)
    return found.status, [issue.code for issue in found.issues]


def test_a_healthy_run_is_valid(attempt: Attempt) -> None:
    """Nothing to say: valid, no issues."""
    record = record_of(attempt)

    assert (Status.VALID, ()) == (record.status, record.issues)


def test_counter_of_another_rate_is_invalid(attempt: Attempt, target: FakeTarget) -> None:
    """A board that runs at another clock than its file says has no figures."""
    target.changes["counter_hz"] = "64000000"

    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)

    record = caught.value.record
    assert (Status.INVALID, ["clock-mismatch"]) == (record.status, codes(record))
    assert () == record.measures
    assert "64,000,000" in caught.value.fault.what


@pytest.mark.parametrize(
    ("true_hz", "wanted"),
    [
        (25e6, (Status.VALID, [])),
        (25.4e6, (Status.VALID, [])),
        (25.6e6, "clock-mismatch"),
        (24.4e6, "clock-mismatch"),
        (None, (Status.DEGRADED, ["clock-unchecked"])),
    ],
)
def test_a_part_that_runs_at_another_rate_is_invalid(
    true_hz: float | None, wanted: object, attempt: Attempt
) -> None:
    """More than 2 % off the board's 25 MHz by this machine's clock; a rate that nobody saw is said."""
    due_s = (0.0, 0.1, 0.2, 2.4, 2.5, 2.6)
    ticks = {9 + i: round(due * 25_000_000) for i, due in enumerate(due_s)}
    run = run_of(attempt, clock=ticks)
    run = replace(run, board=run.board.model_copy(update={"evidence": "silicon", "qemu": None}))
    arrived = {n: 50.0 + count / true_hz for n, count in ticks.items()} if true_hz else {}
    transcript = Transcript(
        b"", None, timed_out=False, overflowed=False, seconds=3.0, arrived=arrived
    )

    try:
        found = validity.judge(run, transcript, retries=0, dirty=False)
        told: object = (found.status, [issue.code for issue in found.issues])
    except validity.InvalidRunError as fault:
        told = fault.code

    assert wanted == told


def test_output_that_nobody_wrote_is_invalid(attempt: Attempt, target: FakeTarget) -> None:
    """The pattern that the firmware fills outputs with, come back as it was."""
    target.outputs[1, 0] = unwritten(12)

    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)

    assert ["output-unwritten"] == codes(caught.value.record)
    assert "sample 1" in caught.value.fault.what


def test_write_past_the_programs_memory_is_invalid(attempt: Attempt) -> None:
    """A damaged guard: whatever the figures say, a kernel is wrong."""
    with pytest.raises(validity.InvalidRunError, match="3 of 64 bytes") as caught:
        judged(run_of(attempt, guard=Guard(64, 3)))

    assert "guard-damaged" == caught.value.code


@pytest.mark.parametrize(
    ("guard", "where"),
    [
        (Guard(64, front=16, front_damaged=2), "2 of 16 bytes in front of the program's memory"),
        (Guard(64, fixed=300, fixed_damaged=1), r"the engine's own data \(300 bytes"),
    ],
)
def test_writes_before_and_into_the_engines_data_are_invalid(
    attempt: Attempt, guard: Guard, where: str
) -> None:
    """Each guard says which it is."""
    with pytest.raises(validity.InvalidRunError, match=where) as caught:
        judged(run_of(attempt, guard=guard))

    assert "guard-damaged" == caught.value.code


def test_a_write_beside_an_output_names_the_instruction(attempt: Attempt) -> None:
    """Bytes that are no argument of an instruction changed while it ran."""
    with pytest.raises(
        validity.InvalidRunError, match=r"12 bytes beside .* first by instruction 0 \("
    ) as caught:
        judged(run_of(attempt, guard=Guard(64, 0, 320, 12, 0)))

    assert "guard-damaged" == caught.value.code


def test_pattern_is_the_firmwares() -> None:
    """Host and firmware fill alike."""
    source = (PROJECT / "firmware" / "app" / "run.cpp").read_text()

    assert f"kUnwritten{{{validity.UNWRITTEN:#04X}}}".replace("0X", "0x") in source
    assert bytes([0xA5, 0xA4, 0xA7]) == unwritten(3)


def test_equal_outputs_for_different_inputs_are_inconclusive(
    attempt: Attempt, target: FakeTarget
) -> None:
    """A program that ignores its input agrees with a reference that does."""
    inputs = np.arange(12, dtype=np.float32).tobytes()
    (attempt.program.folder / "input_0.bin").write_bytes(inputs)
    target.outputs.update({(sample, 0): EQUAL.tobytes() for sample in range(3)})

    record = record_of(attempt)

    assert (Status.DEGRADED, ["inconclusive-output"]) == (record.status, codes(record))


def test_equal_outputs_for_equal_inputs_are_fine(attempt: Attempt, target: FakeTarget) -> None:
    """The same input must give the same output."""
    target.outputs.update({(sample, 0): EQUAL.tobytes() for sample in range(3)})

    assert [] == codes(record_of(attempt))


def test_outputs_of_a_few_steps_are_inconclusive(attempt: Attempt, target: FakeTarget) -> None:
    """Outputs of three quantization steps cannot tell right from wrong."""
    tiny = np.array([0.1, 0.2, 0.4], np.float32)
    target.outputs.update({(sample, 0): np.roll(tiny, sample).tobytes() for sample in range(3)})

    record = record_of(attempt)

    assert ["inconclusive-output"] == codes(record)
    assert "3 quantization steps" in record.issues[0].message


def test_emulator_that_counts_differently_is_degraded(attempt: Attempt) -> None:
    """Counts of one inference must be equal."""
    run = run_of(attempt)
    log = replace(run.log, ticks=run.log.ticks | {"latency": (1600, 1600, 1601)})

    assert (Status.DEGRADED, ["unsteady-count"]) == judged(replace(run, log=log))


@pytest.mark.parametrize(
    ("ticks", "found"),
    [
        ((110, 108, 106, 104, 100, 100, 100, 100), ["warm-up-drift"]),
        ((100, 101, 100, 99, 101, 100, 99, 100), []),
        ((150, 100, 100), []),
    ],
)
def test_drift_of_a_real_part_is_degraded(
    attempt: Attempt, ticks: tuple[int, ...], found: list[str]
) -> None:
    """Samples that still fall are not warm; noise, or too few of them, are no drift."""
    run = run_of(attempt)
    board = run.board.model_copy(update={"evidence": "silicon"})
    log = replace(run.log, ticks=run.log.ticks | {"latency": ticks})

    assert [*found, "clock-unchecked"] == judged(replace(run, board=board, log=log))[1]


def test_dirty_tree_and_noise_are_noted(attempt: Attempt) -> None:
    """They leave a record valid, and say so."""
    run = run_of(attempt, noise_bytes=12)

    assert (Status.VALID, ["wire-noise", "dirty-tree"]) == judged(run, dirty=True)


def test_findings_of_the_export_are_repeated(attempt: Attempt) -> None:
    """What the export says decides the status with the rest; what is no rule is left to the report."""
    findings = (
        Finding("no-host-reference", "x", "none"),
        Finding("float-node", "y", "stayed"),
        Finding("layout-copy", "z", "moves"),
    )
    manifest = replace(attempt.program.manifest, findings=findings)
    record = record_of(replace(attempt, program=replace(attempt.program, manifest=manifest)))

    assert (Status.DEGRADED, ["no-host-reference", "float-node"]) == (record.status, codes(record))


def test_resets_that_agree_are_a_result(attempt: Attempt) -> None:
    """Three resets with equal outputs and counts: measures of 0, no issue."""
    record = record_of(replace(attempt, plan=replace(attempt.plan, resets=3)))
    found = {m.unit: (m.median, m.n) for m in record.measures if m.name == "determinism"}

    assert {"outputs": (0, 3), "windows": (0, 3)} == found
    assert [] == codes(record)


def test_resets_that_differ_are_named(attempt: Attempt, target: FakeTarget) -> None:
    """Which output and which window differed, in which run."""
    changing = ChangingTarget(target.outputs)
    record = record_of(replace(attempt, target=changing, plan=replace(attempt.plan, resets=2)))
    found = {m.unit: m.median for m in record.measures if m.name == "determinism"}

    assert {"outputs": 1, "windows": 5} == found
    assert (Status.DEGRADED, ["not-deterministic"]) == (record.status, codes(record))
    assert "run 2: output 0 of sample 1 differs" in record.issues[0].message


def test_one_run_says_nothing_of_determinism(attempt: Attempt) -> None:
    """Without further resets there is no measure."""
    assert record_of(attempt).find("determinism") is None


def test_lost_output_counts_as_different(attempt: Attempt, target: FakeTarget) -> None:
    """An output that a later run did not send differs."""
    log: RunLog = run_of(attempt).log

    found = compare_runs(log, [replace(log, outputs={})])

    assert 3 == len(found.outputs)


def test_codes_are_documented_with_their_weight() -> None:
    """docs/validity.md has a row for every rule; every fault's code is on the page of faults or on it."""
    page = (PROJECT / "docs" / "validity.md").read_text()

    for rule in RULES.values():
        assert f"| `{rule.code}` | {rule.weight} |" in page


def test_rules_and_faults_have_codes_of_their_own() -> None:
    """A code means one thing."""
    faults = {
        cls.code for cls in errors.LabError.__subclasses__() if cls.__module__ == "bench.errors"
    }

    assert set() == faults & set(RULES)
    assert {Weight.INVALID, Weight.DEGRADED, Weight.NOTE} == {r.weight for r in RULES.values()}


def test_invalid_run_carries_the_rules_code() -> None:
    """The fault's code is the rule's, with its meaning as the hint."""
    fault = validity.InvalidRunError(Issue(code="clock-mismatch", message="64 MHz"))

    assert ("clock-mismatch", RULES["clock-mismatch"].meaning) == (fault.code, fault.hint)
