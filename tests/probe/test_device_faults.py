"""What a program does wrong on a device is told as on an emulator: by kind, with places and sizes, in an invalid record."""

from __future__ import annotations

import dataclasses
import re

import pytest

from bench.bundle import Inject, Options
from bench.errors import LabError
from bench.foreign import foreign_program
from bench.pipeline import Attempt, Case, Plan, RunFailedError, run_case
from bench.record import Status
from tests.probe.conftest import UPSTREAM, Simulated, image_of, output_of

pytestmark = pytest.mark.qemu


def _attempt(simulated: Simulated, **options: object) -> Attempt:
    program = foreign_program(
        UPSTREAM / "linear_cortex-m4.pte", (UPSTREAM / "linear_cortex-m4.in.bin",)
    )
    wanted = Options(**{"warmup": 0, "iterations": 1, **options})  # type: ignore[arg-type]
    case = Case(simulated.board, "linear", program.manifest.scheme)
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
