"""The only composer: programs and images are made, the device runs, a record comes out."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench import (
    build,
    deployment,
    engine,
    estimate,
    faults,
    known_bad,
    metrics,
    preflight,
    validity,
    wire,
)
from bench.attach import Attach, Mode, stand_in
from bench.attach import target_for as choose_target
from bench.bundle import Bundle, Options, pack, samples_that_fit
from bench.catalogue import memories_of, source_of
from bench.engine import LAB
from bench.errors import (
    CounterError,
    DeviceFaultError,
    DeviceRefusedError,
    DoesNotFitError,
    IncompleteRunError,
    InputError,
    LabError,
    NoAnswerError,
    WireDamagedError,
    WireValueError,
)
from bench.facts import blank_record, image_facts
from bench.fit import fits_of, needs_of, shortage
from bench.float_ends import find_float_ends
from bench.headroom import regions
from bench.image import kernel_list
from bench.model import ModelSource, resolve_model
from bench.proof import is_proven
from bench.record import Issue, Measure, Record
from bench.sampling import Wanted, further
from bench.tables import lay_out
from bench.targets import Request, Target
from bench.targets.device import DeviceTarget
from bench.targets.fvp import FvpTarget
from bench.targets.qemu import QemuTarget
from bench.targets.twin import TwinTarget
from bench.wire import Transcript

if TYPE_CHECKING:
    from bench.board import Board
    from bench.image import Image
    from bench.program import Program
    from bench.programs import Say
    from bench.wire import RunLog

_RETRIES = (
    1  # of a run whose lines were damaged on the way; what the device itself says is never retried
)


@dataclass(frozen=True)
class Case:
    """One cell of the matrix.

    Attributes:
        model: a zoo name, `path/to/file.py:function`, or a .pte.
    """

    board: Board
    model: str
    scheme: str


@dataclass(frozen=True)
class Plan:
    """How runs are done.

    Attributes:
        samples: how many of the model's samples run; None for all that it has.
        deadline_s: of one run; None for one from the amount of work.
        deployment: also link and run the deployment image, for sizes that a product would have.
        estimate: also run once with QEMU's plugin, for estimated cycles.
        resets: run so often from reset, and compare.
        wanted: how many samples of the latency there must be where samples vary.
        engine: what runs the programs (bench/engine.py); deployment images are linked for the lab's own alone.
        reserves: bytes of `RAM` and `Flash` that an application needs beside the model.
    """

    options: Options = field(default_factory=Options)
    samples: int | None = None
    deadline_s: float | None = None
    deployment: bool = True
    estimate: bool = True
    resets: int = 1
    engine: str = LAB
    wanted: Wanted = field(default_factory=Wanted)
    reserves: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A run that was evaluated: its record, what the device said, and the metrics' own files."""

    record: Record
    program: Program
    transcript: Transcript
    log: RunLog
    files: dict[str, bytes] = field(default_factory=dict)


class RunFailedError(Exception):
    """Carries a fault together with the record and the transcript that belong to it.

    The record is invalid, but for a program that does not fit its board: what was counted on the twin stays true.
    """

    def __init__(self, fault: LabError, record: Record, transcript: Transcript) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.record = record
        self.transcript = transcript


# --- images ---------------------------------------------------------------------------------------------------------


def ensure_images(
    boards: Sequence[Board], say: Say, engine: str = LAB
) -> dict[str, Image | LabError]:
    """Build what changed of every board's lab image; return the image, or why there is none, by board id."""
    found: dict[str, Image | LabError] = {}
    for board in boards:
        if board.id in found:
            continue
        say(f"building the firmware of {board.id} ...")
        try:
            found[board.id] = build.build_image(board, engine)
        except LabError as fault:
            found[board.id] = fault
    return found


def target_for(board: Board, attach: Attach | None = None, say: Say = lambda _text: None) -> Target:
    """Return the way to reach a board; without `attach` what needs no device."""
    return choose_target(board, attach or Attach(Mode.TWIN), say)


# --- one run --------------------------------------------------------------------------------------------------------


def _samples_of(program: Program, count: int) -> list[list[bytes]]:
    """Return the first `count` samples: a list of inputs each."""
    blobs = [
        (program.folder / f"input_{index}.bin").read_bytes()
        for index in range(len(program.manifest.inputs))
    ]
    sizes = [info.nbytes for info in program.manifest.inputs]
    return [
        [blob[sample * size : (sample + 1) * size] for blob, size in zip(blobs, sizes, strict=True)]
        for sample in range(count)
    ]


def make_bundle(program: Program, plan: Plan) -> tuple[Bundle, int]:
    """Return the bundle of a run with all its samples, and how many are in it."""
    (first, *_), count = make_bundles(program, plan, 0)
    return first.bundle, count


@dataclass(frozen=True)
class Share:
    """A bundle with a share of the samples.

    Attributes:
        first: index of its first sample among all.
    """

    bundle: Bundle
    first: int
    samples: int


def make_bundles(program: Program, plan: Plan, slot_bytes: int) -> tuple[list[Share], int]:
    """Return the bundles of a run and how many samples are in all: the first measures, the rest give outputs alone.

    Samples are the lab's, not the program's: where they do not fit the slot beside it, they go in several bundles, all
    with the same number of samples, so that the program stays where it is (the last takes some a second time).

    Args:
        slot_bytes: of the model slot; 0 for no limit.
    """
    available = program.manifest.sample_count
    count = available if plan.samples is None else min(plan.samples, available)
    if count < 1:
        raise InputError("at least one sample must run", hint="--samples=N with N of 1 or more")
    options = replace(plan.options, method=program.manifest.method)
    samples, pte = _samples_of(program, count), program.pte.read_bytes()
    share = min(count, samples_that_fit(slot_bytes, samples[0], pte)) if slot_bytes else count
    share = max(1, share)  # if not even one fits, the preflight says so
    bare = replace(options, warmup=0, iterations=0, operator_ticks=False, clock_check=False)
    starts = [min(start, count - share) for start in range(0, count, share)]
    return [
        Share(pack(pte, samples[start : start + share], bare if start else options), start, share)
        for start in starts
    ], count


def _deadline_s(program: Program, plan: Plan, samples: int) -> float:
    """Return a deadline that a healthy run never meets: a minute, and 2 us a MAC (soft float takes a tenth)."""
    if plan.deadline_s is not None:
        return plan.deadline_s
    inferences = 2 + plan.options.warmup + plan.options.iterations + samples
    return 60.0 + 2e-6 * inferences * max(program.manifest.macs, 1_000_000)


@dataclass(frozen=True)
class Attempt:
    """Everything that one run is made of."""

    case: Case
    program: Program
    image: Image
    target: Target
    plan: Plan

    @property
    def where(self) -> str:
        """How messages name it."""
        return (
            f"{self.program.manifest.model} {self.program.manifest.scheme} on {self.case.board.id}"
        )


@dataclass(frozen=True)
class Running:
    """What is executed: the board and its image, or the machine and the image of the board's twin."""

    board: Board
    image: Image
    roomy: bool = False

    @classmethod
    def of(cls, attempt: Attempt, *, roomy: bool = False) -> Running:
        """Return what an attempt executes; builds the twin's image, a roomy one if asked for; raises BuildError."""
        if isinstance(attempt.target, FvpTarget):
            plain = {"qemu": None, "evidence": "fvp"}  # its ticks are no instructions
            return cls(attempt.case.board.model_copy(update=plain), attempt.image)
        if isinstance(attempt.target, TwinTarget):
            image = build.build_twin(attempt.case.board, roomy=roomy, engine=attempt.plan.engine)
            return cls(attempt.target.machine, image, roomy)
        return cls(attempt.case.board, attempt.image)


def run_case(attempt: Attempt) -> Outcome:
    """Check, run and evaluate one case.

    Raises:
        LabError: from the preflight: nothing booted.
        RunFailedError: the device or the wire failed; carries the record and the transcript.
    """
    program, plan, board = attempt.program, attempt.plan, attempt.case.board
    if board.evidence == "silicon" and not isinstance(attempt.target, QemuTarget):
        plan = replace(plan, options=replace(plan.options, clock_check=True))
    slot_bytes = attempt.image.model.nbytes if board.host is None else 0
    (share, *rest), samples = make_bundles(program, plan, slot_bytes)
    arena_bytes = plan.options.arena_limit_bytes or attempt.image.program_arena_bytes
    preflight.check(program, attempt.image, board)
    _check_engine(attempt)
    try:
        preflight.check_fit(program, attempt.image, board, share.bundle, arena_bytes)
        running = Running.of(attempt)
    except DoesNotFitError:
        if not isinstance(attempt.target, TwinTarget) or plan.options.arena_limit_bytes:
            raise
        # how much is missing takes a run: on all that the machine has
        running, rest = Running.of(attempt, roomy=True), []
        share = Share(make_bundle(program, plan)[0], 0, samples)
    deadline_s = _deadline_s(program, plan, samples)
    for retries in itertools.count():
        request = Request(
            running.board, running.image, share.bundle, secrets.randbits(64), deadline_s
        )
        try:
            transcript = attempt.target.run(request)
        except LabError as fault:  # a device failed, whatever may mend it having been tried
            seen = Transcript(fault.received, None, timed_out=False, overflowed=False, seconds=0.0)
            raise _failed(attempt, seen, fault, retries) from fault
        try:
            log = _with_rest(attempt, wire.parse(transcript, _expected(request)), request, rest)
            run = metrics.Run(running.board, program, attempt.image, log, samples)
            _check_outputs(run)
            estimated, operator_cycles = _estimate(attempt, running, log, share.samples)
            run = replace(
                run,
                deployment=_run_deployment(attempt, request, running, log),
                operator_est_cycles=operator_cycles,
                repeats=_repeat(attempt, request),
            )
            run = replace(
                run,
                more=_sample_more(attempt, request, run),
                wanted_width=plan.wanted.width,
                without_float_ends=_without_float_ends(attempt, run),
            )
            measures = (*metrics.measure_all(run), *estimated)
            way = _of_the_way(attempt, running, measures)
            record = _whole_record(attempt, run, measures, retries, transcript, way)
            if "too-large" in way:
                too_large = DoesNotFitError(way["too-large"], where=attempt.where)
                raise RunFailedError(too_large, record, transcript)
            return Outcome(record, program, transcript, log, metrics.attach_all(run))
        except (WireDamagedError, IncompleteRunError, NoAnswerError) as fault:
            # an emulator is deterministic: bytes lost on the way come whole the second time, a broken firmware's do not
            if retries >= _RETRIES or transcript.timed_out:
                raise _failed(attempt, transcript, fault, retries) from fault
        except DeviceFaultError as fault:
            told = faults.explain(wire.fault_of(transcript), running.image.elf)
            raise _failed(attempt, transcript, told, retries) from fault
        except LabError as fault:
            raise _failed(attempt, transcript, fault, retries) from fault
    raise AssertionError("the loop above returns or raises")


def _check_engine(attempt: Attempt) -> None:
    """Raise KnownBadKernelError if the engine is known to get the program wrong."""
    program, name = attempt.program, attempt.plan.engine
    if name == LAB:
        return
    known_bad.check(
        program.pte.read_bytes(),
        program.manifest.method,
        attempt.case.board.cpu,
        name,
        engine.version_of(name),
        attempt.where,
    )


def _with_rest(attempt: Attempt, log: RunLog, request: Request, rest: Sequence[Share]) -> RunLog:
    """Run the samples that the first bundle had no room for; return its log with their outputs, too."""
    outputs, intermediates = dict(log.outputs), dict(log.intermediates)
    for share in rest:
        again = replace(request, bundle=share.bundle, nonce=secrets.randbits(64))
        more = wire.parse(attempt.target.run(again), _expected(again))
        outputs |= {(share.first + sample, i): data for (sample, i), data in more.outputs.items()}
        intermediates |= {
            (share.first + sample, i): data for (sample, i), data in more.intermediates.items()
        }
    return replace(log, outputs=outputs, intermediates=intermediates)


def _repeat(attempt: Attempt, request: Request) -> tuple[RunLog, ...]:
    """Run the same bundle again from reset, as often as the plan says, each time with a nonce of its own."""
    logs = []
    for _ in range(attempt.plan.resets - 1):
        again = replace(request, nonce=secrets.randbits(64))
        logs.append(wire.parse(attempt.target.run(again), _expected(again)))
    return tuple(logs)


def _sample_more(attempt: Attempt, request: Request, run: metrics.Run) -> tuple[RunLog, ...]:
    """Run again for more samples of the latency until there are enough; nothing where counts never vary.

    Further runs have one bundle among them, so that a board is written to once.
    """
    plan = attempt.plan
    if run.board.evidence not in {"silicon", "wallclock"} or not run.log.ticks.get("latency"):
        return ()
    hz = run.log.hello.counter_hz
    logs: list[RunLog] = []
    while True:
        seen = replace(run, more=tuple(logs)).ticks("latency")
        count = further([ticks / hz for ticks in seen], plan.wanted)
        if not count:
            return tuple(logs)
        options = replace(plan.options, iterations=count, all_outputs=False,
                          operator_ticks=False, intermediates=False)  # fmt: skip
        short = replace(plan, options=options, samples=1)
        again = replace(
            request,
            bundle=make_bundle(attempt.program, short)[0],
            nonce=secrets.randbits(64),
            deadline_s=_deadline_s(attempt.program, short, 1),
        )
        logs.append(wire.parse(attempt.target.run(again), _expected(again)))


def _run_deployment(
    attempt: Attempt, request: Request, running: Running, log: RunLog
) -> tuple[deployment.Deployment, deployment.DeploymentRun] | None:
    """Link what a product would ship for this program, and run it on the same bundle; None where there is none.

    A device is not flashed with it: what only a run shows (stack, pools) is seen on what stands in for the board.
    """
    board = attempt.case.board
    on_device = isinstance(attempt.target, DeviceTarget)
    target = stand_in(board) if on_device else attempt.target
    wanted = attempt.plan.deployment and attempt.plan.engine == LAB
    if not wanted or not isinstance(target, QemuTarget):
        return None
    pte, method = attempt.program.pte.read_bytes(), attempt.program.manifest.method
    operators = frozenset(operator.operator for operator in attempt.program.manifest.operators)
    where: Literal["lab", "roomy", "twin"] = "lab"
    if isinstance(target, TwinTarget):
        where = "roomy" if running.roomy else "twin"
        build.build_twin(board, roomy=running.roomy)
        request = replace(request, board=target.machine)

    def run(
        fallbacks: frozenset[str] | None,
    ) -> tuple[deployment.Deployment, deployment.DeploymentRun]:
        linked = deployment.build_deployment(board, operators, fallbacks=fallbacks)
        ran = linked
        if where != "lab":
            ran = deployment.build_deployment(board, operators, where, fallbacks=fallbacks)
        # The lab image loaded these very bytes, with every check of the same kernels: this one relies on it.
        temporary_bytes = log.pools["temporary"].used
        tables = lay_out(pte, method, kernel_list(ran.image.elf), temporary_bytes, attempt.where)
        bundle = deployment.marked(request.bundle, tables, ran.image, attempt.where)
        transcript = target.run(replace(request, image=ran.image, bundle=bundle))
        done = deployment.parse_report(transcript, attempt.where)
        return replace(linked, tables_bytes=len(tables)), done

    # Whether a call needs a reference kernel, its fast one alone knows: the image without them runs first, and if it fails,
    # of all of them those are left out whose lack makes no difference.
    with contextlib.suppress(DeviceRefusedError):
        return run(frozenset())
    found = run(None)
    if len(found[0].fallbacks) == 1:
        return found
    for one in sorted(found[0].fallbacks):
        with contextlib.suppress(DeviceRefusedError):
            found = run(found[0].fallbacks - {one})
    return found


def _without_float_ends(attempt: Attempt, run: metrics.Run) -> deployment.Deployment | None:
    """Link the deployment image as it would be with int8 inputs and outputs; it is weighed, not run."""
    if run.deployment is None or run.program.manifest.scheme == "fp32":
        return None
    ends = find_float_ends(run.program.pte.read_bytes(), run.program.manifest.method)
    operators = frozenset(operator.operator for operator in run.program.manifest.operators)
    left = operators - ends.operators
    if not ends.instructions or not left:
        return None
    fallbacks = run.deployment[0].fallbacks
    return deployment.build_deployment(attempt.case.board, left, fallbacks=fallbacks)


def _estimate(
    attempt: Attempt, running: Running, log: RunLog, samples: int
) -> tuple[tuple[Measure, ...], dict[int, float]]:
    """Price the inference, and each instruction of the program, from blocks: one more short run, with the plugin.

    Raises:
        CounterError: its windows have other ticks than the run without the plugin.
        EstimateError, DumpError, TableError: what the plugin left does not belong to the run, or cannot be priced.
    """
    board, plan = running.board, attempt.plan
    if (
        not plan.estimate
        or not estimate.supports(board)
        or not isinstance(attempt.target, QemuTarget)
    ):
        return (), {}
    options = replace(
        plan.options, warmup=0, iterations=min(1, plan.options.iterations), all_outputs=False
    )
    # as many samples, so that the program lies where it lay: Armv6-M divides addresses in software, in unequal time
    bundle, _ = make_bundle(attempt.program, replace(plan, options=options, samples=samples))
    deadline_s = _deadline_s(attempt.program, plan, 1)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        dump = Path(folder) / "blocks.dump"
        request = Request(board, running.image, bundle, secrets.randbits(64), deadline_s,
                          plugin=estimate.plugin_for(running.image, dump))  # fmt: skip
        counted = wire.parse(attempt.target.run(request), _expected(request))
        blocks = estimate.read_dump_file(dump)
        found = estimate.measures(board, blocks, counted, stands_for=attempt.case.board)
        by_operator = estimate.operator_cycles(
            board, blocks, counted, stands_for=attempt.case.board
        )
    for name, ticks in counted.ticks.items():
        if set(ticks) - set(log.ticks[name]):
            raise CounterError(f"{name}: {ticks} ticks with the plugin, {log.ticks[name]} without")
    return found, by_operator


def _whole_record(
    attempt: Attempt,
    run: metrics.Run,
    measures: tuple[Measure, ...],
    retries: int,
    transcript: Transcript,
    way: Mapping[str, str],
) -> Record:
    """Return the record of a run that was parsed and measured; its status comes from `bench.validity`."""
    blank = blank_record(attempt, run.log.hello.engine, run.log.hello.engine_version)
    judged = validity.judge(
        run, transcript, retries=retries, dirty=blank.dirty, way=tuple(way.items())
    )
    images = blank.images
    if run.deployment is not None:
        images = (*images, image_facts(attempt, run.deployment[0].image, "deployment"))
    record = blank.model_copy(
        update={
            "images": images,
            "device": transcript.device or blank.device,
            "status": judged.status,
            "issues": judged.issues,
            "retries": retries,
            "measures": measures,
            "regions": regions(memories_of(attempt.case.board), measures, attempt.plan.reserves),
        }
    )
    validity.check_sums(record)
    return record


def _of_the_way(attempt: Attempt, running: Running, measures: Sequence[Measure]) -> dict[str, str]:
    """Return what the way to the board says about its record: a rule's code -> message."""
    board, target = attempt.case.board, attempt.target
    if isinstance(target, TwinTarget):
        return _of_twin(attempt, target.machine, running, measures)
    if "hardware" in board.unverified and target.attachment == "probe" and not is_proven(board.id):
        message = f"no {board.id} passed `bench bring-up --board={board.id}` on this site yet"
        return {"board-unproven": message}
    return {}


def _of_twin(
    attempt: Attempt, machine: Board, running: Running, measures: Sequence[Measure]
) -> dict[str, str]:
    board = attempt.case.board
    listed = source_of(board) is not board
    sizes = {one.name: int(one.median) for one in measures if one.unit == "bytes"}
    lacking = shortage(fits_of(needs_of(sizes), memories_of(board)))
    own = f"the image of {machine.id}, for it has no firmware" if listed else "its own image"
    told = {
        "twin": f"no {board.id} was there: sizes and fit are of {own}, instructions and outputs of the same code on "
        f"QEMU's {machine.id}, cycles are estimated"
    }
    if lacking:
        told["too-large"] = lacking
    elif running.roomy:
        told["lab-does-not-fit"] = (
            f"the lab's image and the program do not fit {board.id} together, what a product would ship does: "
            "it ran with more memory"
        )
    return told


def _check_outputs(run: metrics.Run) -> None:
    """Raise WireValueError unless every output of every sample came in its right size."""
    for index, info in enumerate(run.program.manifest.outputs):
        for sample in range(run.samples):
            data = run.log.outputs.get((sample, index))
            if data is None or len(data) != info.nbytes:
                got = "nothing" if data is None else f"{len(data)} bytes"
                raise WireValueError(
                    f"output {index} of sample {sample}: {got} came, the program gives {info.nbytes} bytes"
                )


def _expected(request: Request) -> wire.Expected:
    return wire.Expected(
        board=request.board.id,
        build=request.image.build_id,
        nonce=f"{request.nonce:016x}",
        bundle=request.bundle.crc32,
    )


def _failed(
    attempt: Attempt, transcript: Transcript, fault: LabError, retries: int
) -> RunFailedError:
    fault.where = fault.where or attempt.where
    record = blank_record(attempt, "", "").model_copy(
        update={
            "issues": (Issue(code=fault.code, message=fault.what),),
            "retries": retries,
        }
    )
    return RunFailedError(fault, record, transcript)


def is_foreign(model: str) -> bool:
    """Whether a --model names a ready .pte."""
    return not isinstance(resolve_model(model), ModelSource)


def attachments(outcome: Outcome) -> dict[str, bytes]:
    """Return the files that lie beside a record: the transcript, raw outputs, the program's report, metrics' tables."""
    manifest = outcome.program.manifest
    outputs = {
        f"output_{index}.bin": b"".join(
            data for (_, i), data in sorted(outcome.log.outputs.items()) if i == index
        )
        for index in range(len(manifest.outputs))
    }
    return {
        "transcript.txt": outcome.transcript.raw,
        **({"received.txt": received} if (received := outcome.transcript.received) else {}),
        "program.json": manifest.to_json().encode(),
        **outputs,
        **outcome.files,
    }
