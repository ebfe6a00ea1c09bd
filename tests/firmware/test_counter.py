"""The counter's self-test at boot: a counter that stands, or wraps unseen, leaves no figure behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.bundle import Options
from bench.errors import CounterError
from bench.pipeline import RunFailedError, run_case
from bench.record import Status
from tests.device.conftest import attempt_of, vector
from tests.firmware.support import run_on, upstream_bundle
from tests.patched_image import patched_image

if TYPE_CHECKING:
    from bench.board import Board

pytestmark = pytest.mark.qemu

BROKEN = {
    # the handler does not count: as if the interrupt went elsewhere
    "wraps every 2^24 ticks and its firmware does not notice": (
        "firmware/port/systick_wraps.cpp",
        '"adds r1, #1\\n\\t"',
        '"adds r1, #0\\n\\t"',
    ),
    "stands still": (
        "firmware/port/counter_systick.cpp",
        "return (wraps << kSysTickBits) | low;",
        "return (wraps << kSysTickBits) & low & 0u;",
    ),
}


def test_a_healthy_counter_says_so(board: Board) -> None:
    """It moves, and its wraps are seen, on every emulated board."""
    counter = run_on(board, upstream_bundle(board, "linear", iterations=0)).one("counter")

    assert ("1", "1") == (counter["moved"], counter["wraps_seen"])


@pytest.mark.toolchain
@pytest.mark.parametrize("told", list(BROKEN))
def test_a_broken_counter_makes_the_record_invalid(told: str, tmp_path: Path) -> None:
    """For real: an image with that fault in it. The record has the reason and no measure."""
    attempt = attempt_of("mps2-an386", vector("linear", "cortex-m4")[0], Options(iterations=1))
    image = patched_image(attempt.case.board, *BROKEN[told], tmp_path)

    with pytest.raises(RunFailedError) as caught:
        run_case(replace(attempt, image=image))

    record = caught.value.record
    assert isinstance(caught.value.fault, CounterError)
    assert (Status.INVALID, ("counter-invalid",), ()) == (
        record.status,
        tuple(issue.code for issue in record.issues),
        record.measures,
    )
    assert told in record.issues[0].message
