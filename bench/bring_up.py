"""Bring a board up: link, Flash, counter, clock and one model, each seen to work before a figure is believed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench import wire
from bench.bundle import Inject, Options, pack
from bench.clock import TOLERANCE, counted_hz
from bench.errors import BringUpError, CounterError, FlashVerifyError, LabError
from bench.facts import commit
from bench.pipeline import Attempt, Case, Plan, RunFailedError, run_case
from bench.proof import Report, Step
from bench.record import Status
from bench.sampling import Wanted
from bench.targets import Request
from bench.verdict import faults_of

if TYPE_CHECKING:
    from bench.board import Board
    from bench.image import Image
    from bench.program import Program
    from bench.site import Device
    from bench.targets.device import DeviceTarget
    from bench.wire import RunLog, Transcript

_LINKS = 3  # connections in a row: a bad cable works now and then
_DEADLINE_S = 60.0
_LINEAR = (
    1e-3  # of the counter: equal work costs equal ticks, whether the counter wrapped in it or not
)


@dataclass(frozen=True)
class Bench:
    """What is brought up, and with what.

    Attributes:
        program: a small model that runs at the end.
    """

    board: Board
    device: Device
    target: DeviceTarget
    image: Image
    program: Program


def bring_up(bench: Bench, say: Callable[[str], None]) -> Report:
    """Do every step in order; one without which the rest cannot work ends it."""
    head, dirty = commit()
    steps: list[Step] = []
    stopped = ""
    for name, check, is_vital in (
        ("link", _link, True),
        ("flash", _flash, True),
        ("counter", _counter, False),
        ("clock", _clock, False),
        ("model", _model, False),
    ):
        if stopped:
            steps.append(Step(name=name, passed=False, told=f"not tried: {stopped}", seconds=0.0))
            continue
        say(f"{name} ...")
        started = time.monotonic()
        try:
            told, passed = check(bench), True
        except LabError as fault:
            told, passed = str(fault), False
        except RunFailedError as failure:
            told, passed = str(failure.fault), False
        seconds = round(time.monotonic() - started, 1)
        steps.append(Step(name=name, passed=passed, told=told, seconds=seconds))
        say(f"{name}: {'ok' if passed else 'FAILED'}, {told}")
        if is_vital and not passed:
            stopped = f"{name} failed"
    return Report(
        board=bench.board.id,
        device=bench.device.name,
        probe_uid=bench.device.uid,
        attachment=bench.target.attachment,
        time_utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=head,
        dirty=dirty,
        build_id=bench.image.build_id,
        steps=steps,
    )


def _link(bench: Bench) -> str:
    """Connect again and again; each time it must be this chip."""
    for _ in range(_LINKS):
        bench.target.look(bench.board)
    return f"connected {_LINKS} times, the chip is a {bench.board.name}'s"


def _flash(bench: Bench) -> str:
    """Program everything and read it back; a second time nothing may differ."""
    first = bench.target.flash(bench.board, bench.image, everything=True)
    again = bench.target.flash(bench.board, bench.image)
    if again.programmed_bytes or not first.programmed_bytes:
        raise FlashVerifyError(
            f"{first.programmed_bytes} bytes were programmed, {again.programmed_bytes} of them again right after",
            where=bench.device.name,
        )
    return (
        f"{first.programmed_bytes:,} bytes programmed in {first.seconds:.1f} s and read back; a second time all "
        f"{again.identical_bytes:,} were there"
    )


def _run(bench: Bench, options: Options) -> tuple[Transcript, RunLog]:
    """Run the small model's first sample with these options."""
    sample = [
        (bench.program.folder / f"input_{index}.bin").read_bytes()[: info.nbytes]
        for index, info in enumerate(bench.program.manifest.inputs)
    ]
    bundle = pack(bench.program.pte.read_bytes(), [sample], options)
    request = Request(bench.board, bench.image, bundle, secrets.randbits(64), _DEADLINE_S)
    transcript = bench.target.run(request)
    expected = wire.Expected(
        bench.board.id, bench.image.build_id, f"{request.nonce:016x}", bundle.crc32
    )
    return transcript, wire.parse(transcript, expected)


def _counter(bench: Bench) -> str:
    """Time a loop of a million and of fifty million instructions: the same ticks each, over wraps of the counter."""
    options = Options(inject=Inject.COUNT, method=bench.program.manifest.method)
    transcript, log = _run(bench, options)
    ticks = {
        line.number("instructions"): line.number("ticks") - log.counter.overhead_ticks
        for line in wire.read_lines(transcript.raw)[0]
        if line.kind == "count"
    }
    short, long = (ticks[n] / n for n in (1_000_000, 50_000_000))
    if abs(long / short - 1) > _LINEAR:
        raise CounterError(
            f"an instruction of a loop takes {short:.4f} ticks in a short window, {long:.4f} in a long one",
            where=bench.device.name,
            hint="wraps of the counter are lost, or something else runs beside the app",
        )
    return (
        f"{short:.4f} ticks an instruction of a loop, {long:.4f} over {ticks[50_000_000]:,} ticks"
    )


def _clock(bench: Bench) -> str:
    """Hold the counter's rate against this machine's clock."""
    options = Options(
        warmup=0, iterations=0, method=bench.program.manifest.method, clock_check=True
    )
    transcript, log = _run(bench, options)
    wanted = bench.board.clock_hz
    hz = counted_hz(log.clock, transcript.arrived, wanted)
    if hz is None:
        raise BringUpError("clock lines were lost on the way", where=bench.device.name)
    seen = (
        f"{hz / 1e6:,.3f} MHz by this machine's clock, {wanted / 1e6:,.3f} MHz by the board's file"
    )
    if abs(hz / wanted - 1) > TOLERANCE:
        raise BringUpError(seen, where=bench.device.name, hint="the clock tree in board.cpp")
    return f"{seen} ({hz / wanted - 1:+.2%})"


def _model(bench: Bench) -> str:
    """Run the small model as a benchmark would: outputs must be the host's."""
    plan = Plan(
        Options(warmup=1, iterations=3), deployment=False, estimate=False, wanted=Wanted(width=0)
    )
    manifest = bench.program.manifest
    case = Case(bench.board, manifest.model, manifest.scheme)
    record = run_case(Attempt(case, bench.program, bench.image, bench.target, plan)).record
    wrong = faults_of(record, tolerance_steps=0.0)
    if wrong or record.status is Status.INVALID:
        raise BringUpError("; ".join(wrong) or "the record is invalid", where=bench.device.name)
    latency = record.find("latency")
    told = f"{latency.median:,.0f} {latency.unit}" if latency is not None else "no latency"
    return f"{manifest.model} {manifest.scheme}: outputs are the host's, {told}"
