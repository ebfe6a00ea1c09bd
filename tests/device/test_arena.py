"""The host knows to the byte what a program is given of the arena, before anything boots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.bundle import Options
from bench.errors import DoesNotFitError
from bench.image import Region
from bench.pipeline import Attempt, make_bundle, run_case
from bench.preflight import check_fit
from tests.device.conftest import EMULATED, attempt_of, image_of, vector

GUARD_BYTES = 16  # firmware/app/guards.cpp: words in front of the program's memory


def _attempt(board: str, arena_limit_bytes: int = 0) -> Attempt:
    program, _ = vector("linear", "cortex-m55" if board == "mps3-an547" else "cortex-m4")
    options = Options(warmup=0, iterations=0, arena_limit_bytes=arena_limit_bytes)
    attempt = attempt_of(board, program, options)
    return replace(attempt, plan=replace(attempt.plan, deployment=False, estimate=False))


@pytest.mark.qemu
@pytest.mark.parametrize("board", EMULATED)
def test_the_hosts_figure_is_the_devices(board: str) -> None:
    """What the image file says a program gets is what the device says it gave, whole and as a limit of just that."""
    given = image_of(board).program_arena_bytes

    whole = run_case(_attempt(board)).log.pools["arena"]
    limited = run_case(_attempt(board, given)).log.pools["arena"]

    assert (given, given) == (whole.have, limited.have)
    assert given == image_of(board).arena.nbytes - GUARD_BYTES


@pytest.mark.qemu
def test_a_limit_of_more_than_there_is_does_not_boot() -> None:
    """One byte more than the program would be given."""
    given = image_of("mps2-an386").program_arena_bytes

    with pytest.raises(DoesNotFitError, match=f"limited to {given + 1} bytes.* has {given}"):
        run_case(_attempt("mps2-an386", given + 1))


@pytest.mark.toolchain
def test_a_plan_that_just_fits_and_one_byte_less() -> None:
    """The plan's 320 bytes and the guard are room enough for the check; a byte less is not, and is told as it is."""
    attempt = _attempt("mps2-an386")
    board, program = attempt.case.board, attempt.program
    bundle, _ = make_bundle(program, attempt.plan)
    start = attempt.image.arena.start

    def fits(nbytes: int) -> None:
        image = replace(attempt.image, arena=Region(start, start + nbytes))
        check_fit(program, image, board, bundle, image.program_arena_bytes)

    assert 320 == program.manifest.planned_bytes
    fits(320 + GUARD_BYTES)
    with pytest.raises(DoesNotFitError, match=r"have 319 bytes, need at least 320 .* 1 too many"):
        fits(319 + GUARD_BYTES)
