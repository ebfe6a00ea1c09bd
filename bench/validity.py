"""How far a record can be trusted: every rule, its code and its weight, in one place (docs/validity.md).

A fault (`bench.errors`, docs/faults.md) leaves an invalid record by itself, with the fault's code. The rules here
look at runs that went through: what they find is an issue of the record, and the weightiest decides its status.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from bench.clock import TOLERANCE, counted_hz
from bench.determinism import compare_runs
from bench.errors import Blame, LabError
from bench.headroom import wrong_sums
from bench.record import Issue, Record, Status
from bench.sampling import width_of

if TYPE_CHECKING:
    from bench.metrics import Run
    from bench.wire import Transcript

UNWRITTEN = 0xA5  # firmware/app/run.cpp fills byte k of an output with this ^ k before an inference
FEW_STEPS = 4.0  # outputs that span less cannot tell a right program from a wrong one
DRIFT = 0.02  # of the median: timing noise of real parts at rest stays below
DRIFT_SAMPLES = 8  # fewer show noise as drift


class Weight(StrEnum):
    """What an issue does to its record."""

    INVALID = "invalid"  # no measures
    DEGRADED = "degraded"  # usable, with care
    NOTE = "note"  # good to know; the record stays valid


@dataclass(frozen=True)
class Rule:
    """A stable code and what it means for the record."""

    code: str
    weight: Weight
    meaning: str


_ALL = (
    Rule("clock-mismatch", Weight.INVALID, "the device's counter runs at another rate than the board's file says: by its own word, or by more than 2 % "
         "against this machine's clock"),
    Rule("clock-unchecked", Weight.DEGRADED, "on a part: the counter's rate was not held against this machine's clock"),
    Rule("output-unwritten", Weight.INVALID, "an output still has the pattern that it was filled with: nothing wrote it"),
    Rule("guard-damaged", Weight.INVALID, "a kernel wrote outside the memory that it was given: around the program's, into the engine's own, or beside its output"),
    Rule("parts-differ", Weight.INVALID, "a total of bytes is not the sum of its parts, or another witness of them differs"),
    Rule("no-host-reference", Weight.DEGRADED, "outputs are compared with the float model alone; of a ready .pte with nothing"),
    Rule("cpu-unknown", Weight.NOTE, "a ready .pte does not say for which cpu it was lowered"),
    Rule("inconclusive-output", Weight.DEGRADED, "outputs span a few steps, or are equal for different inputs: "
         "that they agree with the reference proves little"),
    Rule("unsteady-count", Weight.DEGRADED, "an emulator counted differently for the same inference"),
    Rule("warm-up-drift", Weight.DEGRADED, "the later half of the latency samples is slower or faster than the earlier"),
    Rule("wide-interval", Weight.NOTE, "the 95 % interval of the latency's median is wider than was wanted"),
    Rule("not-deterministic", Weight.DEGRADED, "outputs, or an emulator's counts, differ between resets"),
    Rule("board-unproven", Weight.DEGRADED, "no board of this type passed `bench bring-up` on this site yet"),
    Rule("too-large", Weight.DEGRADED, "the program and what a product needs beside it are larger than the board's "
         "memories: figures are of a twin with more"),
    Rule("retried", Weight.DEGRADED, "a run was damaged on the wire and done again"),
    Rule("repaired", Weight.NOTE, "lines were lost on the way and sent again"),
    Rule("recovered", Weight.NOTE, "the device failed first; the message says what mended it"),
    Rule("wire-noise", Weight.NOTE, "bytes outside lines came and were skipped"),
    Rule("twin", Weight.NOTE, "the board was not there: its own image gave the sizes, an emulator ran the same code"),
    Rule("lab-does-not-fit", Weight.NOTE, "the lab's image has every kernel and no room beside it; the deployment "
         "image has"),
    Rule("dirty-tree", Weight.NOTE, "the project had changes that no commit has: the commit alone does not tell what ran"),
    Rule("degenerate-range", Weight.NOTE, "calibration data that is constant or ruled by one outlier"),
    Rule("float-node", Weight.NOTE, "a node of an int8 program stayed float"),
)  # fmt: skip
RULES = {rule.code: rule for rule in _ALL}


class InvalidRunError(LabError):
    """A run that went through and still means nothing; its code is the rule's."""

    code = "run-invalid"
    blame = Blame.DEVICE

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message, hint=RULES[issue.code].meaning)
        self.code = issue.code


@dataclass(frozen=True)
class Judgement:
    """The status of a record and why."""

    status: Status
    issues: tuple[Issue, ...]


def judge(
    run: Run,
    transcript: Transcript,
    *,
    retries: int,
    dirty: bool,
    way: Sequence[tuple[str, str]] = (),
) -> Judgement:
    """Apply every rule to a run that was parsed.

    Args:
        way: codes and messages of what the way to the board adds.

    Raises:
        InvalidRunError: a rule of weight `invalid` holds.
    """
    found = [Issue(code=code, message=message) for code, message in _found(run)]
    found += [Issue(code=code, message=message) for code, message in _of_rate(run, transcript)]
    found += [Issue(code=c, message=m) for c, m in _of_transport(run, transcript, retries)]
    found += [Issue(code=code, message=message) for code, message in way]
    if dirty:
        message = "the work tree differs from the commit"
        found.append(Issue(code="dirty-tree", message=message))
    weights = {RULES[issue.code].weight for issue in found}
    for issue in found:
        if RULES[issue.code].weight is Weight.INVALID:
            raise InvalidRunError(issue)
    status = Status.DEGRADED if Weight.DEGRADED in weights else Status.VALID
    return Judgement(status, tuple(found))


def check_sums(record: Record) -> None:
    """Raise InvalidRunError unless every whole of a record is the sum of its parts."""
    if wrong := wrong_sums(record):
        raise InvalidRunError(Issue(code="parts-differ", message="; ".join(wrong)))


Finding = tuple[str, str]


def _found(run: Run) -> Iterator[Finding]:
    rules: Sequence[Callable[[Run], Iterator[Finding]]] = (
        _of_export,
        _of_clock,
        _of_unwritten_outputs,
        _of_guard,
        _of_inconclusive_outputs,
        _of_latency,
        _of_interval,
        _of_resets,
    )
    for rule in rules:
        yield from rule(run)


def _of_export(run: Run) -> Iterator[Finding]:
    for finding in run.program.manifest.findings:
        if finding.code in RULES:
            yield finding.code, f"{finding.node}: {finding.message}"


def _of_clock(run: Run) -> Iterator[Finding]:
    told = run.log.hello.counter_hz
    if told != run.board.clock_hz:
        yield (
            "clock-mismatch",
            f"the device counts at {told:,} Hz, {run.board.id} says {run.board.clock_hz:,} Hz",
        )


def _of_rate(run: Run, transcript: Transcript) -> Iterator[Finding]:
    told, asked = run.board.clock_hz, bool(run.log.clock)
    if run.board.evidence != "silicon" and not asked:
        return
    hz = counted_hz(run.log.clock, transcript.arrived, told)
    if hz is None:
        yield (
            "clock-unchecked",
            "the lines by which the counter's rate is checked did not all come in their turn",
        )
    elif abs(hz / told - 1) > TOLERANCE:
        by, said = f"{hz / 1e6:,.3f} MHz", f"{told / 1e6:,.3f} MHz"
        message = f"by this machine's clock the device counts at {by}, {run.board.id} says {said}: {hz / told - 1:+.1%}"
        yield "clock-mismatch", message


def _of_unwritten_outputs(run: Run) -> Iterator[Finding]:
    for (sample, index), data in run.log.outputs.items():
        if len(data) > 1 and data == unwritten(len(data)):
            yield "output-unwritten", f"output {index} of sample {sample} was never written"
            return


def _of_guard(run: Run) -> Iterator[Finding]:
    guard = run.log.guard
    if guard.damaged:
        yield (
            "guard-damaged",
            f"{guard.damaged} of {guard.nbytes} bytes behind the program's memory changed",
        )
    if guard.front_damaged:
        yield (
            "guard-damaged",
            f"{guard.front_damaged} of {guard.front} bytes in front of the program's memory changed",
        )
    if guard.fixed_damaged:
        yield (
            "guard-damaged",
            f"the engine's own data ({guard.fixed} bytes behind the memory plan) changed",
        )
    if guard.beside_damaged:
        first = _instruction(run, guard.first)
        yield (
            "guard-damaged",
            f"{guard.beside_damaged} bytes beside an instruction's output changed, first by {first}",
        )


def _instruction(run: Run, index: int) -> str:
    operators = {one.index: one.operator for one in run.program.manifest.operators}
    return f"instruction {index} ({operators.get(index, 'unknown')})"


def unwritten(size: int) -> bytes:
    """Return what an output of so many bytes holds before an inference."""
    return bytes(UNWRITTEN ^ (k & 0xFF) for k in range(size))


def _of_inconclusive_outputs(run: Run) -> Iterator[Finding]:
    manifest = run.program.manifest
    for index, info in enumerate(manifest.outputs):
        step = manifest.output_step[index] if info.dtype == "float32" else 1.0
        values = run.device_output(index).astype(np.float64)
        finite = values[np.isfinite(values)]
        span = float(np.ptp(finite)) if finite.size else 0.0
        if values.size > 1 and (span / step if step > 0 else span) < (
            FEW_STEPS if step > 0 else 1e-9
        ):
            shown = f"{span / step:.0f} quantization steps" if step > 0 else f"{span:g}"
            yield "inconclusive-output", f"output {index} spans {shown} over all samples"
        elif run.samples > 1 and (values == values[0]).all() and _inputs_differ(run):
            yield (
                "inconclusive-output",
                f"output {index} is the same for all {run.samples} samples, whose inputs differ",
            )


def _inputs_differ(run: Run) -> bool:
    for index, info in enumerate(run.program.manifest.inputs):
        data = (run.program.folder / f"input_{index}.bin").read_bytes()[: run.samples * info.nbytes]
        if data != data[: info.nbytes] * run.samples:
            return True
    return False


def _of_latency(run: Run) -> Iterator[Finding]:
    for log in (run.log, *run.repeats, *run.more):  # each began at a reset, and had to warm up
        ticks = log.ticks.get("latency", ())
        if run.board.evidence == "count":
            if len(set(ticks)) > 1:
                yield "unsteady-count", f"the same inference took {sorted(set(ticks))} ticks"
                return
        elif (drift := _drift(ticks)) and abs(drift) > DRIFT:
            yield (
                "warm-up-drift",
                f"the later half of {len(ticks)} samples takes {drift:+.1%} of the earlier; more --warmup helps",
            )
            return


def _drift(ticks: Sequence[int]) -> float:
    """Return by which part the median of the later half differs from the earlier's; 0 of too few samples."""
    if len(ticks) < DRIFT_SAMPLES:
        return 0.0
    half = len(ticks) // 2
    return statistics.median(ticks[half:]) / statistics.median(ticks[:half]) - 1


def _of_interval(run: Run) -> Iterator[Finding]:
    if run.board.evidence not in {"silicon", "wallclock"} or not run.wanted_width:
        return
    ticks = run.ticks("latency")
    width = width_of(ticks)
    if ticks and (width is None or width > run.wanted_width):
        told = "unknown" if width is None else f"{width:.2%} of it"
        yield (
            "wide-interval",
            f"the 95 % interval of the median of {len(ticks)} samples is {told}, wanted {run.wanted_width:.2%}",
        )


def _of_resets(run: Run) -> Iterator[Finding]:
    if not run.repeats:
        return
    found = compare_runs(run.log, run.repeats)
    told = found.told if run.board.evidence == "count" else found.told[: len(found.outputs)]
    if told:
        more = f"; and {len(told) - 3} more" if len(told) > 3 else ""
        yield "not-deterministic", f"{found.resets} resets: {'; '.join(told[:3])}{more}"


def _of_transport(run: Run, transcript: Transcript, retries: int) -> Iterator[Finding]:
    if retries:
        yield "retried", f"{retries} run was damaged on the wire and done again"
    if transcript.repaired_lines:
        yield "repaired", f"{transcript.repaired_lines} lines were lost on the way and sent again"
    if transcript.recovery:
        yield "recovered", f"the device failed first; tried: {', '.join(transcript.recovery)}"
    if run.log.noise_bytes:
        yield "wire-noise", f"{run.log.noise_bytes} bytes outside lines were skipped"
