"""Faults made for real on an emulated board: each is named, symbolised where it has an address, and never a result."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bench import errors
from bench.bundle import Inject, Options
from bench.pipeline import Attempt, RunFailedError, run_case
from bench.program import Program
from bench.record import Status
from tests.device.conftest import attempt_of, image_of, vector

BOARDS = ["mps2-an386", "mps3-an547"]  # Armv7-M and Armv8-M report faults by different means


def _attempt(board: str, deadline_s: float = 120.0, **options: object) -> Attempt:
    program, _ = vector("linear", "cortex-m4")
    wanted = Options(**{"warmup": 0, "iterations": 0, **options})  # type: ignore[arg-type]
    return attempt_of(board, program, wanted, deadline_s)


def _fault_of(attempt: Attempt) -> errors.LabError:
    with pytest.raises(RunFailedError) as caught:
        run_case(attempt)
    assert (caught.value.record.status, caught.value.record.measures) == (Status.INVALID, ())
    assert caught.value.transcript.raw
    return caught.value.fault


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_a_hang_ends_at_the_deadline(board: str) -> None:
    """The message says after which line the device went silent."""
    fault = _fault_of(_attempt(board, deadline_s=4.0, inject=Inject.HANG))

    assert isinstance(fault, errors.DeadlineError)
    assert re.search(r"stopped answering after line \d+", fault.what)


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_an_undefined_instruction_is_decoded_and_symbolised(board: str) -> None:
    """Cause from the fault status, function, source file and line from the image."""
    fault = _fault_of(_attempt(board, inject=Inject.UNDEFINED_INSTRUCTION))

    assert isinstance(fault, errors.DeviceFaultError)
    assert "undefined instruction" in fault.what
    assert re.search(
        r"pc fw::undefined_instruction\+0x0 \(faults\.cpp:\d+\); lr fw::inject_in_inference\+0x[0-9a-f]+ \(inject\.cpp:\d+\)",
        fault.what,
    )


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_a_stack_overflow_is_named(board: str) -> None:
    """It is not left to corrupt what lies below the stack."""
    fault = _fault_of(_attempt(board, inject=Inject.STACK_OVERFLOW))

    assert isinstance(fault, errors.DeviceFaultError)
    assert re.search(r"stack[ _]overflow", fault.what)


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_a_run_that_stops_without_an_end_is_no_run(board: str) -> None:
    """The emulator ends well, the device did not say so."""
    fault = _fault_of(_attempt(board, inject=Inject.STOP_WITHOUT_END))

    assert isinstance(fault, errors.IncompleteRunError)


@pytest.mark.qemu
@pytest.mark.parametrize(
    "board", [*BOARDS, "microbit", "mps2-an385", "mps2-an500", "mps2-an505", "host"]
)
def test_the_arena_is_exact_to_eight_bytes(board: str) -> None:
    """The need that the device tells is enough, and 8 bytes less are not (G10: have and need are told)."""
    whole = run_case(_attempt(board))
    need = whole.log.pools["arena"].used

    exact = run_case(_attempt(board, arena_limit_bytes=need))
    fault = _fault_of(_attempt(board, arena_limit_bytes=need - 8))

    assert exact.log.outputs == whole.log.outputs
    assert isinstance(fault, errors.DoesNotFitError)
    assert f"have {need - 8} bytes, need {need} bytes" in fault.what


def _changed(attempt: Attempt, data: bytes) -> Attempt:
    """Put other bytes in place of the program, behind the back of the host's own checks."""
    program = attempt.program
    folder = attempt.image.elf.parent / f"changed-{abs(hash(data))}"
    folder.mkdir(exist_ok=True)
    (folder / "program.pte").write_bytes(data)
    (folder / "input_0.bin").write_bytes((program.folder / "input_0.bin").read_bytes())
    return replace(attempt, program=Program(folder, program.manifest))


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: data[: len(data) // 2], "program-"),
        (lambda _data: b"<html>404 Not Found</html>" * 40, "program-"),
        (lambda data: b"\0" + data, "program-"),
        (lambda data: b"\xff\xff\xff\x7f" + data[4:], "program-"),
        (lambda data: data.replace(b"forward", b"f\0\0\0\0\0\0"), "method-missing"),
    ],
    ids=[
        "truncated",
        "foreign",
        "one byte prepended",
        "root offset corrupted",
        "method's name zeroed",
    ],
)
def test_a_program_damaged_on_its_way_is_refused_by_the_device(change: object, code: str) -> None:
    """S17, G12: the device checks what lies in its Flash and says what is wrong; it does not crash."""
    attempt = _attempt("mps3-an547")
    data = change(attempt.program.pte.read_bytes())  # type: ignore[operator]

    fault = _fault_of(_changed(attempt, data))

    assert isinstance(fault, errors.DeviceRefusedError)
    assert f"refuses: {code}" in fault.what


@pytest.mark.qemu
def test_an_image_that_is_not_the_one_asked_for_is_refused() -> None:
    """The build id that the device tells is not the ELF's that the lab believes to run."""
    attempt = _attempt("mps3-an547")
    image = replace(image_of("mps3-an547"), build_id="0" * 40)

    fault = _fault_of(replace(attempt, image=image))

    assert isinstance(fault, errors.WrongIdentityError)
    assert "build id is" in fault.what
