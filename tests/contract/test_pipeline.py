"""From a device's bytes to a record: a healthy run is measured, every fault is named and never looks valid."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import errors, pipeline, store
from bench.pipeline import Attempt, RunFailedError, run_case
from bench.record import Evidence, Record, Status
from bench.targets import Request
from bench.targets.fake import FakeTarget
from bench.verdict import faults_of
from bench.wire import Transcript, frame, read_lines
from tests.contract.conftest import OUTPUTS


def test_a_healthy_run_is_a_valid_record(attempt: Attempt) -> None:
    """Counts are counts, accuracy has its interval, both truths are apart."""
    record = run_case(attempt).record

    latency, top1 = record.find("latency"), record.find("top1_device")
    assert record.status is Status.VALID
    assert latency is not None
    # 1600 ticks at 25 MHz and 64 ns an instruction: 1600 / 1.6
    assert (latency.unit, latency.evidence, latency.values) == (
        "instructions",
        Evidence.COUNT,
        (1000,) * 3,
    )
    assert top1 is not None
    assert (top1.median, top1.n) == (1.0, 3)
    assert record.find("mismatch_host_int8", "elements").median == 0  # type: ignore[union-attr]
    assert record.find("error_float", "max_abs").median == pytest.approx(0.01, rel=1e-3)  # type: ignore[union-attr]
    assert faults_of(record) == []
    assert record.corrections == ("pool: integers",)


def test_the_word_cycles_is_not_said_of_an_emulator(attempt: Attempt) -> None:
    """G20: nothing in an emulated record is in cycles or in milliseconds."""
    record = run_case(attempt).record

    assert {m.unit for m in record.measures} & {"cycles", "ms", "est_cycles"} == set()


def test_a_saved_record_reads_back(attempt: Attempt, tmp_path: Path) -> None:
    """What is written is what is read, with its attachments hashed; the name tells UTC, scheme and run."""
    outcome = run_case(attempt)

    path = store.save(outcome.record, pipeline.attachments(outcome), tmp_path)

    (found_path, found), *rest = store.load(tmp_path)[0]
    assert (found_path, rest) == (path, [])
    assert found.model_copy(update={"files": {}}) == outcome.record
    assert re.fullmatch(r"\d{8}T\d{6}Z-int8-[0-9a-f]{8}\.json", path.name)
    assert path.parent == tmp_path / "fake-m4" / "toy"
    assert (path.parent / found.files["transcript.txt"].file).read_bytes() == outcome.transcript.raw
    assert (path.parent / found.files["output_0.bin"].file).read_bytes() == OUTPUTS.tobytes()


def test_a_damaged_record_is_named_and_left_out(attempt: Attempt, tmp_path: Path) -> None:
    """A truncated file beside a good one does not hide the good one."""
    outcome = run_case(attempt)
    path = store.save(outcome.record, {}, tmp_path)
    (path.parent / "half.json").write_bytes(path.read_bytes()[:100])

    good, bad = store.load(tmp_path)

    assert [p for p, _ in good] == [path]
    assert [item.path.name for item in bad] == ["half.json"]


def test_outputs_off_by_0_9_fail_under_default_settings(attempt: Attempt) -> None:
    """G09: a tolerance wide enough to pass this would pass anything."""
    attempt.target.outputs = {  # type: ignore[attr-defined]
        (s, 0): (OUTPUTS[s] + np.float32(0.9)).tobytes() for s in range(3)
    }

    record = run_case(attempt).record

    assert "9 of 9 output elements differ from host int8" in faults_of(record)[0]
    assert record.find("mismatch_host_int8", "steps").median == pytest.approx(9.0, rel=1e-5)  # type: ignore[union-attr]


def test_one_step_is_a_failure_by_default_and_passes_when_asked(attempt: Attempt) -> None:
    """The tolerance is in quantization steps and is zero unless the user says otherwise."""
    changed = OUTPUTS.copy()
    changed[1, 2] += np.float32(0.1)
    attempt.target.outputs = {(s, 0): changed[s].tobytes() for s in range(3)}  # type: ignore[attr-defined]

    record = run_case(attempt).record

    assert "1 of 9" in faults_of(record)[0]
    assert faults_of(record, tolerance_steps=1.001) == []


def test_nan_outputs_fail(attempt: Attempt) -> None:
    """NaN differs from everything, by an infinite number of steps, also after a round trip through JSON."""
    changed = OUTPUTS.copy()
    changed[0, 0] = np.nan
    attempt.target.outputs = {(s, 0): changed[s].tobytes() for s in range(3)}  # type: ignore[attr-defined]

    record = run_case(attempt).record

    again = Record.model_validate_json(record.model_dump_json(by_alias=True))
    assert "by up to inf" in faults_of(again)[0]


def test_parity_and_quantization_loss_are_two_numbers(attempt: Attempt, program: object) -> None:
    """G07: the device equals host int8 while both are far from float: passes parity, and the loss is told."""
    far = (OUTPUTS * np.float32(-5)).tobytes()
    (attempt.program.folder / "float_0.bin").write_bytes(far)

    record = run_case(attempt).record

    assert faults_of(record) == []
    assert record.find("error_float", "dB").median < 0  # type: ignore[union-attr]


# --- the table of faults: what happens to the device's bytes, and what it is called ---------------------------------


def _lines(raw: bytes, change: Callable[[int, str], str | None]) -> bytes:
    """Send the run again with bodies changed (None drops the line), numbered and summed anew."""
    bodies = []
    for line in read_lines(raw)[0]:
        body = " ".join([line.kind, *(f"{k}={v}" for k, v in line.fields.items())])
        changed = change(line.seq, body)
        if changed is not None:
            bodies.append(changed)
    return b"".join(frame(seq, body) for seq, body in enumerate(bodies))


def _lu(_seq: int, body: str) -> str:
    return re.sub(r"ticks=\d+", "ticks=lu", body) if body.startswith("measure") else body


def _still(_seq: int, body: str) -> str:
    return body.replace("moved=1", "moved=0")


def _unseen(_seq: int, body: str) -> str:
    return body.replace("wraps_seen=1", "wraps_seen=0")


def _zero(_seq: int, body: str) -> str:
    return re.sub(r"ticks=\d+", "ticks=0", body) if "latency " in body else body


def _no_output(_seq: int, body: str) -> str | None:
    return None if body.startswith("output") and "sample=2" in body else body


FAULTS: dict[str, tuple[Callable[[bytes, int], bytes], type[errors.LabError], str]] = {
    "garbage only": (lambda _raw, _n: b"\xa5" * 300, errors.NoAnswerError, "no line among 300 bytes"),
    "nothing at all": (lambda _raw, _n: b"", errors.NoAnswerError, "no line among 0 bytes"),
    "garbage inside the stream": (
        lambda raw, _n: raw[:700] + b"\xff\x00\xfe" + raw[700:],
        errors.WireDamagedError,
        "missing lines",
    ),
    "bytes lost": (lambda raw, _n: raw[:700] + raw[707:], errors.WireDamagedError, "missing lines"),
    "end never comes": (
        lambda raw, _n: raw[: raw.rindex(b"@")],
        errors.IncompleteRunError,
        "without an end line",
    ),
    "says lu for numbers": (lambda raw, _n: _lines(raw, _lu), errors.WireValueError, "'lu', which is no number"),
    "counter stands still": (lambda raw, _n: _lines(raw, _still), errors.CounterError, "stands still"),
    "counter wraps unseen": (lambda raw, _n: _lines(raw, _unseen), errors.CounterError, "does not notice"),
    "latency of zero": (lambda raw, _n: _lines(raw, _zero), errors.CounterError, "did not count"),
    "an output is missing": (
        lambda raw, _n: _lines(raw, _no_output),
        errors.WireDamagedError,
        "lines, ",
    ),
    "old nonce": (
        lambda raw, _n: _lines(raw, lambda _s, b: re.sub(r"nonce=\w+", "nonce=" + "0" * 16, b)),
        errors.WrongIdentityError,
        "nonce is 0000000000000000",
    ),
    "another build": (
        lambda raw, _n: _lines(raw, lambda _s, b: re.sub(r"build=\w+", "build=" + "c" * 40, b)),
        errors.WrongIdentityError,
        "build id is cccc",
    ),
    "slot not written whole": (
        lambda raw, _n: _lines(raw, lambda _s, b: re.sub(r"bundle=\w+", "bundle=" + "d" * 8, b)),
        errors.WrongIdentityError,
        "bundle CRC is dddddddd",
    ),
    "engine refuses": (
        lambda raw, _n: frame(0, _hello(raw)) + frame(1, "error code=program-corrupt value=7") + frame(2, "end status=error lines=3"),
        errors.DeviceRefusedError,
        "program-corrupt",
    ),
}  # fmt: skip


def _hello(raw: bytes) -> str:
    line = read_lines(raw)[0][0]
    return " ".join([line.kind, *(f"{k}={v}" for k, v in line.fields.items())])


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named_and_leaves_no_valid_record(
    name: str, attempt: Attempt, target: FakeTarget, tmp_path: Path
) -> None:
    """Each fault has its own error, its record is invalid without measures, its transcript is kept."""
    damage, kind, message = FAULTS[name]
    target.damage = damage

    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)

    failure = caught.value
    assert isinstance(failure.fault, kind)
    assert re.search(re.escape(message), failure.fault.what)
    assert (failure.record.status, failure.record.measures) == (Status.INVALID, ())
    assert failure.record.issues[0].code == failure.fault.code
    path = store.save(failure.record, {"transcript.txt": failure.transcript.raw}, tmp_path)
    assert store.load(tmp_path)[0][0] == (path, store.load(tmp_path)[0][0][1])


def test_a_run_damaged_once_is_done_again_and_says_so(attempt: Attempt, target: FakeTarget) -> None:
    """Bytes lost on the way come whole the second time: degraded, with the retry counted."""
    target.damage = lambda raw, run: raw[:700] + raw[707:] if run == 0 else raw

    record = run_case(attempt).record

    assert (record.status, record.retries) == (Status.DEGRADED, 1)
    assert record.issues[0].code == "retried"


def test_a_hang_is_not_retried(attempt: Attempt, target: FakeTarget) -> None:
    """A deadline that passed once is not waited for again."""
    target.timed_out = True
    target.damage = lambda raw, _run: raw[:700]

    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)

    assert isinstance(caught.value.fault, errors.DeadlineError)
    assert target.runs == 1


# --- before anything boots ------------------------------------------------------------------------------------------


def _refused(attempt: Attempt, kind: type[errors.LabError]) -> str:
    with pytest.raises(kind) as caught:
        run_case(attempt)
    assert attempt.target.runs == 0  # type: ignore[attr-defined]
    return str(caught.value)


def test_all_missing_operators_are_named_with_their_layers(attempt: Attempt) -> None:
    """G02: users learn of every missing kernel at once, before anything boots."""
    image = replace(attempt.image, kernels=frozenset({"b::other.out"}))

    message = _refused(replace(attempt, image=image), errors.OperatorMissingError)

    assert "a::one.out (needed by net.first); a::two.out (needed by net.second)" in message


def test_a_program_for_another_cpu_is_refused(attempt: Attempt) -> None:
    """The exporter wrote the cpu down: proven, so an error."""
    manifest = replace(attempt.program.manifest, cpu="cortex-m55")

    message = _refused(
        replace(attempt, program=replace(attempt.program, manifest=manifest)),
        errors.CpuMismatchError,
    )

    assert "lowered for cortex-m55, the board has a cortex-m4" in message


def test_an_unknown_cpu_is_not_an_error(attempt: Attempt) -> None:
    """A foreign .pte carries none: nothing is proven, so it runs."""
    manifest = replace(attempt.program.manifest, cpu="")

    assert run_case(replace(attempt, program=replace(attempt.program, manifest=manifest))).record


def test_a_slot_too_small_tells_both_sizes(attempt: Attempt) -> None:
    """Have N, need M."""
    model = replace(attempt.image.model, end=attempt.image.model.start + 64)

    message = _refused(
        replace(attempt, image=replace(attempt.image, model=model)), errors.DoesNotFitError
    )

    assert (
        "have 64 bytes, need 176, 112 too many" in message
    )  # 128 header + one sample of 16 + 30 -> 32 program


@pytest.mark.parametrize("beside", [1, 2])
def test_samples_that_the_slot_has_no_room_for_go_in_more_bundles(
    attempt: Attempt, beside: int
) -> None:
    """A slot with room for one or two of the three samples gives the same outputs, figures and accuracy."""
    model = replace(attempt.image.model, end=attempt.image.model.start + 160 + 16 * beside)
    whole = run_case(attempt)
    sent: list[int] = []

    class Sliced(FakeTarget):
        """Has the outputs of the samples that are in its bundle."""

        def run(self, request: Request) -> Transcript:
            first = len(sent) if beside == 1 else (0, 1)[len(sent)]
            sent.append(len(request.bundle.data))
            self.outputs = {(s, 0): OUTPUTS[first + s].tobytes() for s in range(beside)}
            return super().run(request)

    sliced = run_case(
        replace(attempt, image=replace(attempt.image, model=model), target=Sliced({}))
    )

    assert [160 + 16 * beside] * (4 - beside) == sent  # the program stays where it is
    assert whole.log.outputs == sliced.log.outputs
    assert whole.record.measures == sliced.record.measures


def test_a_plan_larger_than_the_arena_tells_both_sizes(attempt: Attempt) -> None:
    """The plan alone does not fit beside the guard: no need to boot to know."""
    arena = replace(attempt.image.arena, end=attempt.image.arena.start + 1032)

    message = _refused(
        replace(attempt, image=replace(attempt.image, arena=arena)), errors.DoesNotFitError
    )

    assert "have 1016 bytes, need at least 1024 for the plan alone, 8 too many" in message


def test_a_misaligned_slot_is_refused(attempt: Attempt) -> None:
    """G12: a symbol address that is not a multiple of 16 is named before it faults on a device."""
    model = replace(attempt.image.model, start=0x100001)

    message = _refused(
        replace(attempt, image=replace(attempt.image, model=model)), errors.AlignmentError
    )

    assert "0x001000b1" in message
