"""What a program does wrong on a device is told as on an emulator: by kind, with places and sizes, in an invalid record."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.bundle import Inject, Options
from bench.errors import LabError
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Plan, RunFailedError, run_case
from bench.programs import ensure_programs
from bench.record import Status
from bench.sampling import RUN_SAMPLES, Wanted
from bench.targets.simprobe.gdb_link import HOST_CLOCK
from bench.verdict import faults_of
from tests.patched_image import patched_image
from tests.probe.conftest import UPSTREAM, Simulated, image_of, output_of

pytestmark = pytest.mark.qemu


def _attempt(simulated: Simulated, model: str = "linear", **options: object) -> Attempt:
    stem = UPSTREAM / f"{model}_cortex-m4"
    program = foreign_program(Path(f"{stem}.pte"), (Path(f"{stem}.in.bin"),))
    wanted = Options(**{"warmup": 0, "iterations": 1, **options})  # type: ignore[arg-type]
    case = Case(simulated.board, model, program.manifest.scheme)
    plan = Plan(wanted, deadline_s=60.0, deployment=False)
    return Attempt(case, program, image_of(simulated.board.id), simulated.target(), plan)


def _fault_of(attempt: Attempt) -> LabError:
    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)
    assert (Status.INVALID, ()) == (caught.value.record.status, caught.value.record.measures)
    return caught.value.fault


def test_a_processor_fault_is_decoded_and_symbolised(an386: Simulated) -> None:
    """Cause, function, file and line; the device is free afterwards and runs."""
    fault = _fault_of(_attempt(an386, inject=Inject.UNDEFINED_INSTRUCTION))

    assert "device-fault" == fault.code
    assert "undefined instruction" in fault.what
    assert re.search(r"pc fw::undefined_instruction\+0x0 \(faults\.cpp:\d+\)", fault.what)
    assert output_of("linear") == run_case(_attempt(an386)).log.outputs[0, 0]


def test_a_stack_overflow_is_named(an386: Simulated) -> None:
    """It does not corrupt what lies below the stack, the mailbox among it."""
    fault = _fault_of(_attempt(an386, inject=Inject.STACK_OVERFLOW))

    assert "device-fault" == fault.code
    assert re.search(r"stack[ _]overflow", fault.what)


def test_an_arena_that_is_too_small_says_how_much_is_needed(an386: Simulated) -> None:
    """8 bytes less than what the device itself says that it used."""
    need = run_case(_attempt(an386)).log.pools["arena"].used

    fault = _fault_of(_attempt(an386, arena_limit_bytes=need - 8))

    assert "does-not-fit" == fault.code
    assert f"have {need - 8} bytes, need {need} bytes" in fault.what


def test_another_firmware_is_not_taken_for_this_one(an386: Simulated) -> None:
    """The image that answers is not the one that was asked for: its build id says so."""
    attempt = _attempt(an386)
    other = dataclasses.replace(attempt.image, build_id="0" * 40)

    fault = _fault_of(dataclasses.replace(attempt, image=other))

    assert "wrong-identity" == fault.code
    assert f"build id is {attempt.image.build_id}, expected {'0' * 40}" in fault.what


@pytest.mark.toolchain
def test_a_counter_that_stands_still_leaves_no_figure(an386: Simulated, tmp_path: Path) -> None:
    """An image with that fault in it is flashed and run: the reason, and no measure."""
    image = patched_image(
        an386.board,
        "firmware/port/counter_systick.cpp",
        "return (wraps << kSysTickBits) | low;",
        "return (wraps << kSysTickBits) & low & 0u;",
        tmp_path,
    )

    fault = _fault_of(dataclasses.replace(_attempt(an386), image=image))

    assert "counter-invalid" == fault.code
    assert "stands still" in fault.what


@pytest.mark.toolchain
def test_a_kernel_that_is_off_by_one_is_a_verdict(an386: Simulated, tmp_path: Path) -> None:
    """No fault of the bench: the record stands, has how many elements differ and how far, and fails the benchmark."""
    image = patched_image(
        an386.board,
        "runtime/kernels/dsp/quantized_linear.cpp",
        "  return Error::kOk;\n}\n\n}  // namespace\n\nRT_KERNEL",
        "  out_tensor.as<int8_t>()[0] ^= 1;\n  return Error::kOk;\n}\n\n}  // namespace\n\nRT_KERNEL",
        tmp_path,
    )
    case = Case(an386.board, "linear", "int8")
    (program,) = ensure_programs([case], 1, print).values()
    assert not isinstance(program, LabError), program
    plan = Plan(Options(warmup=0, iterations=1), deadline_s=60.0, deployment=False)

    record = run_case(Attempt(case, program, image, an386.target(), plan)).record
    steps = record.find("mismatch_host_int8", "steps")

    assert Status.INVALID is not record.status
    assert steps is not None
    assert steps.median >= 1
    (told,) = faults_of(record)
    assert "output elements differ from host int8, by up to" in told


def test_where_samples_vary_a_device_measures_on(
    plug_in: Callable[..., Simulated], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this machine's clock QEMU's ticks vary as a part's: run after run until the samples are as many as may be."""
    monkeypatch.setenv(HOST_CLOCK, "1")
    device = plug_in()
    attempt = _attempt(device, "ds_cnn", iterations=3)  # long against what this machine does beside
    as_part = {"evidence": "wallclock", "qemu": None}  # its ticks are time, not instructions
    board = device.board.model_copy(update=as_part)
    wanted = Wanted(1e-9, samples=3 + RUN_SAMPLES + 5)

    record = run_case(
        dataclasses.replace(
            attempt,
            case=dataclasses.replace(attempt.case, board=board),
            plan=dataclasses.replace(attempt.plan, wanted=wanted),
        )
    ).record
    latency = record.find("latency", "ms")
    cold = record.find("latency_first")

    assert latency is not None
    assert cold is not None
    assert (wanted.samples, 3) == (len(latency.values), len(cold.values))
    assert latency.interval is not None
    assert latency.interval[0] <= latency.median <= latency.interval[1]
    assert "wide-interval" in {issue.code for issue in record.issues}
